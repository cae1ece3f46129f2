import { invalidArgument } from "../errors/errors.js";

/** Returns `id`; throws if it is empty, "." or "..", which would change the path of the URL it is put into. */
export function identifier(of: keyof typeof lists, id: string): string {
  if (typeof id === "string" && id.trim() !== "" && id !== "." && id !== "..") return id;
  throw invalidArgument(
    `"${id}" is not a valid id of ${article[of]} ${of}.`,
    `${lists[of]} shows those that exist.`,
  );
}

const lists = {
  sandbox: "client.sandboxes.list()",
  template: "client.templates.list()",
  execution: "sandbox.processes.list()",
  volume: "client.volumes.list()",
};
const article = { sandbox: "a", template: "a", execution: "an", volume: "a" };
