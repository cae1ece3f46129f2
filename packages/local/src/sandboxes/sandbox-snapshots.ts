import { Problem } from "@cloud-sandbox/server-kit";
import { type SnapshotRequest, snapshotOfOther } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { Snapshots } from "../saved/snapshots.js";
import type { Snapshot } from "../store/snapshot-repository.js";
import { placeholders, removeVariables } from "./sandbox-access.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import type { Origin, OwnedCreateRequest, SandboxMaker } from "./sandbox-maker.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { SandboxSlots } from "./sandbox-slots.js";

interface SandboxSnapshotsParts {
  readonly snapshots: Snapshots;
  readonly lifecycle: SandboxLifecycle;
  readonly maker: SandboxMaker;
  readonly slots: SandboxSlots;
  readonly agents: AgentCalls;
}

/** Keeps the files of sandboxes, and gives them to others. */
export class SandboxSnapshots {
  constructor(private readonly parts: SandboxSnapshotsParts) {}

  /** What a sandbox begins with that is made from a snapshot. */
  async origin(idOrName: string, keyId: string | undefined): Promise<Origin> {
    const { snapshots } = this.parts;
    const { template, secretNames, ...snapshot } = snapshots.get(idOrName, keyId);
    const saved = await snapshots.filesOf({ ...snapshot, template, secretNames });
    return { template, saved, secretNames, hold: () => snapshots.hold(saved) };
  }

  async take(sandbox: SandboxRecord, { name, metadata }: SnapshotRequest): Promise<Snapshot> {
    const { snapshots, lifecycle } = this.parts;
    requireNoCopies(sandbox);
    const { id: sandboxId, template, keyId } = sandbox;
    const facts = { name, metadata, sandboxId, template, secretNames: secretNamesOf(sandbox), keyId };
    return snapshots.take(facts, (path) => lifecycle.saveAs(sandbox, path));
  }

  /** Makes sandboxes with the files of this one. For each its sandbox, or the problem that says why it could not be made. */
  async fork(
    sandbox: SandboxRecord,
    count: number,
    timeoutSeconds = sandbox.timeoutSeconds,
  ): Promise<readonly (SandboxRecord | Problem)[]> {
    const { snapshots, lifecycle, maker, slots } = this.parts;
    const { keyId, template, secrets } = sandbox;
    requireNoCopies(sandbox);
    const held: (() => void)[] = [];
    try {
      // All of them have a place before the sandbox stands still.
      for (let index = 0; index < count; index += 1) {
        slots.requireSlot(keyId);
        held.push(slots.hold(keyId));
      }
      const request = requestLike(sandbox, timeoutSeconds);
      return await snapshots.passing(
        (path) => lifecycle.saveAs(sandbox, path),
        async (saved) => {
          const origin: Origin = { template, saved, secretNames: secretNamesOf(sandbox), secrets };
          const making = held.map((leave) => {
            // It takes the slot before anybody else can.
            leave();
            return maker.make(origin, request);
          });
          const outcomes = await Promise.allSettled(making);
          return outcomes.map((outcome) =>
            outcome.status === "fulfilled" ? outcome.value : problemOf(outcome.reason),
          );
        },
      );
    } finally {
      for (const leave of held) leave();
    }
  }

  /** Gives a sandbox the files of a snapshot, and starts it. */
  async restore(sandbox: SandboxRecord, idOrName: string): Promise<void> {
    const { snapshots, lifecycle, agents } = this.parts;
    requireNoCopies(sandbox);
    const snapshot = snapshots.get(idOrName, sandbox.keyId);
    if (snapshot.template.name !== sandbox.template.name)
      throw snapshotOfOther(snapshot, sandbox.template.name);
    const saved = await snapshots.filesOf(snapshot);
    const release = snapshots.hold(saved);
    try {
      await lifecycle.restore(sandbox, saved);
    } finally {
      release();
    }
    const { machine, secrets = [] } = sandbox;
    if (!machine) return;
    const wanted = placeholders(secrets);
    await removeVariables(agents, machine, snapshot.secretNames, wanted);
    await agents.mergeEnvironment(machine, wanted);
  }
}

const secretNamesOf = ({ secrets = [] }: SandboxRecord): readonly string[] =>
  Object.keys(placeholders(secrets));

/** The request that would have made this sandbox, but for its name, template and secrets. */
function requestLike(sandbox: SandboxRecord, timeoutSeconds: number): OwnedCreateRequest {
  const { keyId, metadata, egress, sleep, mounted } = sandbox;
  const mounts = mounted.map(({ target, source, readOnly }) => [target, { ...source, read_only: readOnly }]);
  return {
    timeoutSeconds,
    minIsolation: undefined,
    name: undefined,
    metadata,
    egress,
    limits: undefined,
    mounts: Object.fromEntries(mounts),
    secrets: undefined,
    sleep,
    environment: {},
    idempotency: undefined,
    keyId,
  };
}

/** What such a sandbox has written is compared with a directory of the host, which others have no copy of. */
function requireNoCopies({ id, mounted }: SandboxRecord): void {
  const copy = mounted.find(({ isCopy }) => isCopy);
  if (!copy) return;
  const message = `Sandbox ${id} has a copy of a directory at ${copy.target}, which cannot be kept with its files.`;
  throw new Problem(409, "CONFLICT", message, {
    hint: "Apply the changes that you want, or use a sandbox without such a mount.",
  });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Problem(503, "RUNTIME_UNAVAILABLE", `The sandbox could not be made: ${reason}`, {
    cause: error,
  });
}
