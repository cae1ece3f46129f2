import type { OfferedSystem } from "@cloud-sandbox/protocol";

/** The system that the text of an `os-release` file names. */
export function systemNamedBy(release: string): OfferedSystem | undefined {
  const field = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)`, "m").exec(release)?.[1] ?? "";
  if (field("ID") === "") return undefined;
  return { id: field("ID"), like: field("ID_LIKE").split(" "), version: field("VERSION_ID") };
}
