import { invalidArgument } from "../errors/errors.js";

/** `id`, unless it would make another path of the address it becomes a part of. */
export function identifier(of: keyof typeof lists, id: string): string {
  if (typeof id === "string" && id.trim() !== "" && id !== "." && id !== "..") return id;
  throw invalidArgument(`"${id}" is no id of ${article[of]} ${of}.`, `${lists[of]} shows those that exist.`);
}

const lists = {
  sandbox: "client.sandboxes.list()",
  template: "client.templates.list()",
  execution: "sandbox.processes.list()",
};
const article = { sandbox: "a", template: "a", execution: "an" };
