import type { SandboxClient } from "cloud-sandbox";

/** The ids of all sandboxes in a list. */
export async function sandboxIds(
  { sandboxes }: SandboxClient,
  filter: Parameters<SandboxClient["sandboxes"]["list"]>[0] = {},
): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of sandboxes.list(filter)) ids.push(id);
  return ids;
}
