/** Leased sandboxes: a client calls them by name, and they live for as long as it uses them. */
import type { CreateSandboxOptions, Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/invalid-arguments-error.js";
import type { NamedSandboxes } from "./named-sandboxes.js";
import type { SandboxDirectory } from "./sandbox-directory.js";

/** Seconds that a leased sandbox lives after its last use. Sandboxes of a server that crashed end then, too. */
export const idleSeconds = 3600;

interface LeaseContext {
  readonly client: SandboxClient;
  readonly named: NamedSandboxes;
  readonly sandboxes: SandboxDirectory;
}

/** Makes a sandbox that ends when it was not used for {@link idleSeconds}, or when its client or this server ends. */
export async function createLeased(
  { client, sandboxes }: Pick<LeaseContext, "client" | "sandboxes">,
  options: Omit<CreateSandboxOptions, "timeoutSeconds">,
): Promise<Sandbox> {
  const sandbox = await client.sandboxes.create({ ...options, timeoutSeconds: idleSeconds });
  sandboxes.adopt(sandbox, { isLeased: true });
  sandbox.keepAlive({ seconds: idleSeconds });
  return sandbox;
}

/** Makes the sandbox of a free name. When two calls do that at the same time, one is refused. */
export async function createNamed(
  context: LeaseContext,
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

/** Makes the sandbox of a name, then deletes the one that had the name. Returns whether there was one. */
export async function replaceLeased(
  context: LeaseContext,
  name: string,
  create: () => Promise<Sandbox>,
): Promise<boolean> {
  const { named } = context;
  const before = await named.get(name).catch(() => undefined);
  if (before === undefined) await createNamed(context, name, create);
  else await end(context, named.replace(name, await create()));
  return before !== undefined;
}

/** Does `work` in a sandbox of the client. When the sandbox turns out to have ended, it is forgotten and its name is free. */
export async function useLeased<Result>(
  { named, sandboxes }: LeaseContext,
  name: string,
  sandbox: Sandbox,
  work: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(sandbox);
  } catch (error) {
    if (!hasEnded(error)) throw error;
    // Another call may have given the name to a new sandbox meanwhile.
    if ((await named.get(name).catch(() => undefined)) === sandbox) named.delete(name);
    sandboxes.forget(sandbox.id);
    throw error;
  }
}

/** The client's sandbox of that name, running; a paused one is resumed. Undefined when there is none, or it has ended. */
export async function findLeased(
  { named, sandboxes, signal }: LeaseContext & { readonly signal: AbortSignal },
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

/** Deletes the client's sandbox of that name. Returns whether there was one. */
export async function endLeased(context: LeaseContext, name: string): Promise<boolean> {
  // The name is taken before the first await: a sandbox that gets the name later must not be deleted here.
  return end(context, context.named.take(name));
}

async function end(
  { client, sandboxes }: LeaseContext,
  taken: Promise<Sandbox> | undefined,
): Promise<boolean> {
  // When its creation failed, there is no sandbox to delete.
  const sandbox = await taken?.catch(() => undefined);
  if (sandbox === undefined) return false;
  await client.sandboxes.delete(sandbox.id);
  sandboxes.forget(sandbox.id);
  return true;
}

/** Whether a call failed because its sandbox has ended. */
export function hasEnded(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "SandboxExpiredError" || ("code" in error && error.code === "SANDBOX_NOT_FOUND");
}
