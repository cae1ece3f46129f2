import { invalidArgument } from "../errors/errors.js";
import { kindOf } from "./option-checks.js";

/** Returns `id`; throws if it is empty, "." or "..", which would change the path of the URL it is put into. */
export function identifier(of: keyof typeof lists, id: string): string {
  if (typeof id === "string" && id.trim() !== "" && id !== "." && id !== "..") return id;
  const what = `id of ${article[of]} ${of}`;
  throw invalidArgument(
    typeof id === "string"
      ? `"${id}" is not a valid ${what}.`
      : `The ${what} must be text; it is ${kindOf(id)}.`,
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
