/**
 * Whether an entry of an assistant's configuration starts `mcp run NAME`, as `mcp wrap` writes it. Its server is already one of
 * this command's: storing the entry would replace that server with one that starts itself.
 */
export function isWrapped({ args }: Readonly<Record<string, unknown>>): boolean {
  if (!Array.isArray(args)) return false;
  const [mcp, run] = args.slice(-3);
  return args.length >= 3 && mcp === "mcp" && run === "run";
}
