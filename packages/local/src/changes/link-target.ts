import type { BytePath } from "./byte-path.js";

/**
 * Whether a link leads to a place below the directory. After a name no `..` is allowed: the name may be a link itself, and `..` would
 * then lead to the parent of where it leads.
 */
export function staysInside(path: BytePath, target: BytePath): boolean {
  if (target === "" || target.startsWith("/")) return false;
  const up = /^(?:\.\.?(?:\/+|$))*/.exec(target)?.[0] ?? "";
  const rest = target.slice(up.length);
  if (rest.split("/").includes("..")) return false;
  return (up.match(/\.\./g) ?? []).length <= path.split("/").length - 1;
}
