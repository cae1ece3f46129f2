/**
 * Whether the entry `name` of an assistant's configuration starts `mcp run NAME`, as `mcp wrap` writes it. Its server is already one
 * of this command's: storing the entry would replace that server with one that starts itself. Other programs have a command
 * `mcp run` too, but start a file with it.
 */
export function isWrapped(name: string, { args }: Readonly<Record<string, unknown>>): boolean {
  if (!Array.isArray(args)) return false;
  const [mcp, run, server] = args.slice(-3);
  return mcp === "mcp" && run === "run" && server === name;
}
