/** Whether this is Node.js itself, and not what stands in for it: Bun and Deno have ways of their own. */
export function onNode(): boolean {
  const versions: Record<string, string | undefined> = globalThis.process?.versions ?? {};
  return versions.node !== undefined && versions.bun === undefined && versions.deno === undefined;
}
