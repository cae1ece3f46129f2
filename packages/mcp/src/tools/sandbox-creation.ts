/** Creates sandboxes, and finds those that the client has named. */
import type { Sandbox, SandboxClient, SandboxLimits, Secrets, SleepOptions } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/errors.js";
import { type Environment, sandboxSecrets } from "../settings.js";
import type { ToolContext } from "./definition/tool.js";

export interface WantedSandbox {
  readonly template_name?: string | undefined;
  readonly template_id?: string | undefined;
  /** The id or name of a snapshot, in place of a template. */
  readonly snapshot?: string | undefined;
  readonly region?: string | undefined;
  readonly timeout_seconds: number;
  readonly internet_access?: boolean | undefined;
  readonly ask_egress?: boolean | undefined;
  readonly env_vars?: Readonly<Record<string, string>> | undefined;
  /** Names of stored secrets, by variable. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  readonly vcpu?: number | undefined;
  readonly memory_mb?: number | undefined;
  readonly on_timeout?: "delete" | "stop" | undefined;
  readonly idle_timeout_seconds?: number | undefined;
  readonly copy_of?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface FoundSandbox {
  readonly sandbox: Sandbox;
  /** Whether this call created the sandbox; false if a sandbox of that name existed. */
  readonly created: boolean;
}

type Creation = WantedSandbox & ToolContext;

/** The client's sandbox of that name, which lives for `timeout_seconds` at least, or a new one. */
export async function createOrFind(creation: Creation): Promise<FoundSandbox> {
  const { sandboxes, signal, name, namespace, template_name, template_id } = creation;
  if (template_name !== undefined && template_id !== undefined)
    throw new InvalidArgumentsError("Both template_name and template_id are given; give one of them.");
  if (name === undefined && namespace !== undefined)
    throw new InvalidArgumentsError("namespace is given without a name; give both or neither.");
  if (name === undefined) return { sandbox: await create(creation), created: true };
  const key = JSON.stringify([namespace ?? "", name]);
  const existing = await sandboxes.findRunning(key, signal);
  if (existing !== undefined) return { sandbox: await fitting(existing, name, creation), created: false };
  let created = false;
  try {
    const sandbox = await sandboxes.getOrCreate(key, () => {
      created = true;
      return create(creation);
    });
    return { sandbox, created };
  } catch (error) {
    // Create the sandbox here: the call that was creating it for both was cancelled.
    const wasCancelledElsewhere = !created && error instanceof Error && error.name === "AbortError";
    if (wasCancelledElsewhere && !signal.aborted) return createOrFind(creation);
    throw error;
  }
}

async function create({
  client,
  environment,
  sandboxes,
  signal,
  report,
  askUser,
  ...wanted
}: Creation): Promise<Sandbox> {
  const asks = wanted.ask_egress === true;
  if (asks && askUser === undefined)
    throw new InvalidArgumentsError(
      "ask_egress was given, and your client offers no elicitation: nobody can be asked. Leave it out, or set internet_access.",
    );
  report("Creating a sandbox");
  const limits = await supportedLimits(client, wanted, signal);
  const sandbox = await client.sandboxes.create({
    template: wanted.template_name,
    templateId: wanted.template_id,
    snapshot: wanted.snapshot,
    region: wanted.region,
    timeoutSeconds: wanted.timeout_seconds,
    internetAccess: wanted.internet_access,
    egress: asks ? { ask: true } : undefined,
    env: wanted.env_vars,
    secrets: secretsOf(environment, wanted),
    mounts: wanted.copy_of === undefined ? undefined : { "/repo": { host: wanted.copy_of, mode: "copy" } },
    limits,
    ...sleep(wanted),
    signal,
  });
  sandboxes.adopt(sandbox);
  if (asks) sandboxes.asked.set(sandbox.id, "0");
  return sandbox;
}

/** When the sandbox sleeps. One that does is started by the next call: a model does not know that it was stopped. */
function sleep({
  on_timeout: onTimeout,
  idle_timeout_seconds: idleTimeoutSeconds,
}: WantedSandbox): SleepOptions {
  const sleeps = onTimeout === "stop" || idleTimeoutSeconds !== undefined;
  return sleeps ? { onTimeout, idleTimeoutSeconds, autoStart: true } : {};
}

/** The secrets of the server's settings, and the stored ones that the call names. Without internet access there are none. */
export function secretsOf(
  environment: Environment,
  { internet_access, secrets }: Pick<WantedSandbox, "internet_access" | "secrets">,
): Secrets | undefined {
  const held = internet_access === false ? undefined : sandboxSecrets(environment);
  if (secrets === undefined) return held;
  const named = Object.entries(secrets).map(([name, from]) => [name, { from }]);
  return { ...held, ...Object.fromEntries(named) };
}

/**
 * The limits to request. Undefined for a service that does not state its isolation, such as the cloud, because it
 * ignores limits.
 */
async function supportedLimits(
  client: SandboxClient,
  { vcpu, memory_mb: memoryMb }: WantedSandbox,
  signal: AbortSignal,
): Promise<SandboxLimits | undefined> {
  if (vcpu === undefined && memoryMb === undefined) return undefined;
  const { isolation } = await client.health({ signal });
  return isolation === undefined ? undefined : { vcpu, memoryMb };
}

/** Whether a sandbox has the limits that were requested. */
export function hasRequestedLimits(sandbox: Sandbox, { vcpu, memory_mb }: Partial<WantedSandbox>): boolean {
  const { resources } = sandbox.toJSON();
  return (
    (vcpu === undefined || resources.vcpu === vcpu || Math.ceil(vcpu) === resources.vcpu) &&
    (memory_mb === undefined || resources.memoryMb === memory_mb)
  );
}

async function fitting(sandbox: Sandbox, name: string, creation: Creation): Promise<Sandbox> {
  const { template_name, template_id, internet_access, timeout_seconds, signal } = creation;
  const { id, template, templateId, internetAccess, expiresAt } = sandbox.toJSON();
  const refused = (what: string): InvalidArgumentsError =>
    new InvalidArgumentsError(
      `Your sandbox ${name} is ${id}, ${what}: give another name, or end it with delete_sandbox.`,
    );
  if ((template_name ?? template) !== template || (template_id ?? templateId) !== templateId)
    throw refused(`made from template ${template}`);
  if (internet_access !== undefined && (internetAccess ?? internet_access) !== internet_access)
    throw refused(`made ${internetAccess ? "with" : "without"} internet access`);
  if (!hasRequestedLimits(sandbox, creation)) throw refused("of another size");
  const left = (expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) - Date.now();
  if (left < timeout_seconds * 1000) await sandbox.setTimeout(timeout_seconds, { signal });
  return sandbox;
}
