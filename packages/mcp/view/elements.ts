/** Makes elements. Text becomes text, never markup: most of what is shown here comes from a sandbox. */

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

/** Names and values, one below the other. */
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

/** A block of text under a heading; nothing when there is no text. */
export function block(heading: string, text: string, className = ""): Node | undefined {
  if (text === "") return undefined;
  return element("section", {}, element("h2", {}, heading), element("pre", { className }, text));
}
