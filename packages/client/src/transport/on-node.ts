/** Whether this is Node.js itself, not Bun or Deno, which imitate it but have their own HTTP and WebSockets. */
export function onNode(): boolean {
  const versions: Record<string, string | undefined> = globalThis.process?.versions ?? {};
  return versions.node !== undefined && versions.bun === undefined && versions.deno === undefined;
}
