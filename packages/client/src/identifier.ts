import { invalidArgument } from "./errors.js";

/** `id`, unless it would make another path of the address it becomes a part of. */
export function identifier(of: "sandbox" | "template", id: string): string {
  if (typeof id === "string" && id.trim() !== "" && id !== "." && id !== "..") return id;
  throw invalidArgument(
    `"${id}" is no id of a ${of}.`,
    `client.${of === "sandbox" ? "sandboxes" : "templates"}.list() shows those that exist.`,
  );
}
