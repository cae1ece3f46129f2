/** Shows the list of templates with a search, and one template with all its fields. */
import { button, element, facts } from "./elements.js";
import type { Host } from "./host.js";

type Template = Readonly<Record<string, unknown>> & { readonly name: string };

export function isTemplateList(
  structure: Readonly<Record<string, unknown>>,
): structure is { data: Template[] } {
  const { data } = structure;
  return Array.isArray(data) && data.length > 0 && data.every(isTemplate);
}

export function isTemplate(value: unknown): value is Template {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
}

export function templateBrowser(
  templates: readonly Template[],
  host: Host,
  show: (view: Node) => void,
): Node {
  const search = element("input", {});
  search.type = "search";
  search.placeholder = "Search templates";
  search.setAttribute("aria-label", "Search templates");
  const list = element("ul", {});
  const all = element(
    "div",
    {},
    element(
      "header",
      {},
      element("h1", {}, "Templates"),
      element("span", { className: "faint" }, String(templates.length)),
    ),
    search,
    list,
  );
  const fill = (): void => {
    const wanted = search.value.toLowerCase();
    const found = templates.filter((template) => JSON.stringify(template).toLowerCase().includes(wanted));
    list.replaceChildren(
      ...found.map((template) =>
        element(
          "li",
          {},
          button(card(template), () => open(template)),
        ),
      ),
    );
  };
  const open = (template: Template): void => {
    const back = button("All templates", () => show(all));
    show(templateView(template, host, back));
    if (!host.hasTools) return;
    // Show the fields that the list does not contain when they arrive. If they do not, the fields of the list stay.
    host.callTool("get_template", { name: template.name }).then(
      ({ structuredContent }) => {
        if (back.isConnected && isTemplate(structuredContent))
          show(templateView(structuredContent, host, back));
      },
      () => undefined,
    );
  };
  search.addEventListener("input", fill);
  fill();
  return all;
}

export function templateView(template: Template, host: Host, back?: Node): Node {
  const { name, display_name: title, description, ...others } = template;
  const use = button("Use this template", () => {
    // A host may refuse to pass on messages: the button is then removed, and the user has to write the message.
    host.say(`Create a sandbox from the template ${JSON.stringify(name)}.`).catch(() => use.remove());
  });
  return element(
    "div",
    {},
    element(
      "header",
      {},
      element("h1", {}, typeof title === "string" ? title : name),
      element("code", {}, name),
    ),
    element("p", {}, typeof description === "string" ? description : ""),
    facts(others),
    element("header", {}, use, back),
  );
}

function card({ name, display_name: title, description, language }: Template): Node {
  return element(
    "span",
    {},
    element("strong", {}, typeof title === "string" ? title : name),
    typeof description === "string" ? description : undefined,
    typeof language === "string" ? element("span", { className: "faint" }, ` ${language}`) : undefined,
  );
}
