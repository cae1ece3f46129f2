import type { PortForward } from "cloud-sandbox";
import type { SandboxDirectory } from "../../ownership/sandbox-directory.js";

interface Forwarded {
  readonly sandboxId: string;
  readonly forward: PortForward;
}

/** The ports that each client has forwarded. Deleting a sandbox closes its own. */
const forwarded = new WeakMap<SandboxDirectory, Forwarded[]>();

/** Forwards ports of this machine to the sandbox of a name, each HOST:PORT. If one fails, deletes the sandbox and throws. */
export async function forwardPorts(
  mappings: readonly string[],
  name: string,
  sandboxes: SandboxDirectory,
): Promise<void> {
  if (mappings.length === 0) return;
  const sandbox = await sandboxes.named(name);
  if (sandbox === undefined) return;
  const held = forwarded.get(sandboxes) ?? [];
  forwarded.set(sandboxes, held);
  await closeEnded(held, sandboxes);
  try {
    for (const mapping of mappings) {
      const [localPort, port] = mapping.split(":").map(Number) as [number, number];
      held.push({ sandboxId: sandbox.id, forward: await sandbox.ports.forward(port, { localPort }) });
    }
  } catch (error) {
    await sandboxes.end(name);
    throw error;
  }
}

/** Closes the ports of sandboxes that have ended by themselves, which nobody has tried to reach since. */
async function closeEnded(held: Forwarded[], sandboxes: SandboxDirectory): Promise<void> {
  const known = new Set(sandboxes.known().map(({ id }) => id));
  for (const each of held.splice(0)) {
    if (known.has(each.sandboxId)) held.push(each);
    else await each.forward.close();
  }
}
