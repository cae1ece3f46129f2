/** Creates HTML elements. Text is never parsed as markup, because most of it comes from a sandbox. */

type Child = Node | string | undefined;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<Pick<HTMLElementTagNameMap[Tag], "className">>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function button(label: Node | string, act: () => void): HTMLButtonElement {
  const made = element("button", {}, label);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** A list of names and values. */
export function facts(record: Readonly<Record<string, unknown>>): HTMLElement {
  const rows = Object.entries(record)
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .flatMap(([name, value]) => [
      element("dt", {}, name.replaceAll("_", " ")),
      element("dd", {}, plain(value)),
    ]);
  return element("dl", {}, ...rows);
}

function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return plain(Object.entries(value).map(([name, part]) => `${name.replaceAll("_", " ")} ${plain(part)}`));
}

/** A block of text under a heading. Undefined if the text is empty. */
export function block(heading: string, text: string, className = ""): Node | undefined {
  if (text === "") return undefined;
  return element("section", {}, element("h2", {}, heading), element("pre", { className }, text));
}
