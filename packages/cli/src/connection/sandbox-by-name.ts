import type { SandboxClient } from "cloud-sandbox";
import { CommandError } from "../errors/command-error.js";

/**
 * Calls `work` with the id of a sandbox that a person names by its id or by its name. An id is tried first, so it costs no
 * further request. Throws what `work` throws if there is no sandbox of this name either, and if several have it.
 */
export async function withSandboxId<Result>(
  client: SandboxClient,
  idOrName: string,
  signal: AbortSignal,
  work: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(idOrName);
  } catch (error) {
    if (!meansUnknown(error)) throw error;
    const ids: string[] = [];
    for await (const { id } of client.sandboxes.list({ name: idOrName, signal })) ids.push(id);
    const [id] = ids;
    if (id === undefined) throw error;
    if (ids.length > 1)
      throw new CommandError(
        "SANDBOX_NAME_AMBIGUOUS",
        `${ids.length} sandboxes have the name "${idOrName}": ${ids.join(", ")}.`,
        "Give the id of one of them.",
      );
    return work(id);
  }
}

/** Recognised by its fields: importing the class would load the client. */
function meansUnknown(error: unknown): boolean {
  const { code, status } = Object(error) as { code?: unknown; status?: unknown };
  return code === "SANDBOX_NOT_FOUND" || (status === 404 && code === "NOT_FOUND");
}
