/** Sandboxes that a client calls by name, and that live for as long as it uses them. */
import type { CreateSandboxOptions, Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/invalid-arguments-error.js";
import type { NamedSandboxes } from "./named-sandboxes.js";
import type { SandboxDirectory } from "./sandbox-directory.js";

/** Seconds that one lives on after it was used last: what remains of a server that crashed ends then. */
export const idleSeconds = 3600;

interface Holder {
  readonly client: SandboxClient;
  readonly named: NamedSandboxes;
  readonly sandboxes: SandboxDirectory;
}

/** Makes a sandbox that lives until it was not used for {@link idleSeconds}, or the client or this server ends. */
export async function createHeld(
  { client, sandboxes }: Pick<Holder, "client" | "sandboxes">,
  options: Omit<CreateSandboxOptions, "timeoutSeconds">,
): Promise<Sandbox> {
  const sandbox = await client.sandboxes.create({ ...options, timeoutSeconds: idleSeconds });
  sandboxes.adopt(sandbox, { isHeld: true });
  sandbox.keepAlive({ seconds: idleSeconds });
  return sandbox;
}

/** Makes the sandbox of a name that is free; of two calls at a time, one is refused. */
export async function createNamed(
  context: Holder,
  name: string,
  create: () => Promise<Sandbox>,
): Promise<Sandbox> {
  let isMade = false;
  const sandbox = await context.named.getOrCreate(name, () => {
    isMade = true;
    return create();
  });
  if (isMade) return sandbox;
  throw new InvalidArgumentsError(
    "Another call has just started this sandbox; use it, or call again for a new one.",
  );
}

/** Makes the sandbox of a name. One that has the name already ends when the new one is there. Gives whether there was one. */
export async function replaceHeld(
  context: Holder,
  name: string,
  create: () => Promise<Sandbox>,
): Promise<boolean> {
  const { named } = context;
  const before = await named.get(name).catch(() => undefined);
  if (before === undefined) await createNamed(context, name, create);
  else await end(context, named.replace(name, await create()));
  return before !== undefined;
}

/** Works in a sandbox of the client. One that turns out to have ended is forgotten: its name is free again. */
export async function useHeld<Result>(
  { named, sandboxes }: Holder,
  name: string,
  sandbox: Sandbox,
  work: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(sandbox);
  } catch (error) {
    if (!hasEnded(error)) throw error;
    // The name may be another's by now.
    if ((await named.get(name).catch(() => undefined)) === sandbox) named.delete(name);
    sandboxes.forget(sandbox.id);
    throw error;
  }
}

/** The client's sandbox of that name, running: it is resumed when need be. Undefined when there is none, or no more. */
export async function findHeld(
  { named, sandboxes, signal }: Holder & { readonly signal: AbortSignal },
  name: string,
): Promise<Sandbox | undefined> {
  const held = await named.get(name).catch(() => undefined);
  if (held === undefined) return undefined;
  try {
    await held.refresh({ signal });
    if (held.status === "paused") await held.resume({ signal });
    if (held.status === "running") return held;
  } catch (error) {
    if (!hasEnded(error)) throw error;
  }
  named.delete(name);
  sandboxes.forget(held.id);
  return undefined;
}

/** Deletes the client's sandbox of that name. Gives whether there was one. */
export async function endHeld(context: Holder, name: string): Promise<boolean> {
  // Before anything is waited for, so that no other call ends the one that comes after it.
  return end(context, context.named.take(name));
}

async function end({ client, sandboxes }: Holder, taken: Promise<Sandbox> | undefined): Promise<boolean> {
  // One that could not be made is none.
  const sandbox = await taken?.catch(() => undefined);
  if (sandbox === undefined) return false;
  await client.sandboxes.delete(sandbox.id);
  sandboxes.forget(sandbox.id);
  return true;
}

/** Whether the failure of a call is that its sandbox is gone. */
export function hasEnded(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "SandboxExpiredError" || ("code" in error && error.code === "SANDBOX_NOT_FOUND");
}
