import { Problem } from "@cloud-sandbox/server-kit";
import { type SnapshotRequest, snapshotOfOther, withOwnLimits } from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { LocalTemplate, TemplateCatalogue } from "../catalogue/template-catalogue.js";
import { messageOf } from "../errors/message-of.js";
import type { KeptFiles, Snapshots } from "../saved/snapshots.js";
import type { LayerStore } from "../store/layer-store.js";
import type { Snapshot } from "../store/snapshot-repository.js";
import { placeholders, replaceVariables } from "./sandbox-access.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import type { Origin, OwnedCreateRequest, SandboxMaker } from "./sandbox-maker.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { SandboxSlots } from "./sandbox-slots.js";

interface SandboxSnapshotsParts {
  readonly snapshots: Snapshots;
  readonly templates: TemplateCatalogue;
  readonly lifecycle: SandboxLifecycle;
  readonly maker: SandboxMaker;
  readonly slots: SandboxSlots;
  readonly agents: AgentCalls;
  readonly layers: LayerStore;
  readonly log: (message: string) => void;
}

/** Keeps the files of sandboxes, and gives them to others. */
export class SandboxSnapshots {
  constructor(private readonly parts: SandboxSnapshotsParts) {}

  /** What a sandbox begins with that is made from a snapshot. */
  async origin(
    idOrName: string,
    { filesOnly = false, keyId }: Pick<OwnedCreateRequest, "filesOnly" | "keyId">,
  ): Promise<Origin> {
    const { snapshots } = this.parts;
    const snapshot = snapshots.get(idOrName, keyId);
    const { secretNames } = snapshot;
    const saved = await snapshots.filesOf(snapshot, filesOnly);
    return { template: this.#templateOf(snapshot), saved, secretNames, hold: () => snapshots.hold(saved) };
  }

  /** The template of a snapshot. With another runtime, it is another one of the same name. */
  #templateOf(snapshot: Snapshot): LocalTemplate {
    const { id, template } = snapshot;
    if (!this.parts.snapshots.isOfOtherRuntime(snapshot)) return template;
    const found = this.parts.templates.named(template.name);
    if (found) return withOwnLimits(found, template.ownLimits);
    const message = `Snapshot ${id} is of the template ${template.name}, which this server does not have.`;
    throw new Problem(409, "CONFLICT", message, {
      hint: `Start the server with a template of that name, or with the runtime ${snapshot.runtime}.`,
    });
  }

  async take(sandbox: SandboxRecord, { name, metadata }: SnapshotRequest): Promise<Snapshot> {
    requireNoCopies(sandbox);
    const { id: sandboxId, template, keyId } = sandbox;
    return this.parts.snapshots.take({ name, metadata, sandboxId, template, keyId }, (path) =>
      this.#save(sandbox, path),
    );
  }

  async delete(snapshot: Snapshot): Promise<void> {
    const { snapshots, layers } = this.parts;
    await snapshots.delete(snapshot);
    // It may have been the last user of its template's layers.
    if (snapshot.template.built) await layers.collect();
  }

  /** Makes sandboxes with the files of this one. For each its sandbox, or the problem that says why it could not be made. */
  async fork(
    sandbox: SandboxRecord,
    count: number,
    timeoutSeconds = sandbox.timeoutSeconds,
  ): Promise<readonly (SandboxRecord | Problem)[]> {
    const { snapshots, maker, slots } = this.parts;
    const { keyId, template } = sandbox;
    requireNoCopies(sandbox);
    const held: (() => void)[] = [];
    try {
      // All of them have a place before the sandbox stands still.
      for (let index = 0; index < count; index += 1) {
        slots.requireSlot(keyId);
        held.push(slots.hold(keyId));
      }
      return await snapshots.passing(
        (path) => this.#save(sandbox, path),
        async (saved) => {
          // As they are now: what was taken from the sandbox while its files were saved, the others do not get.
          const { secrets } = sandbox;
          const origin: Origin = { template, saved, secretNames: saved.secretNames, secrets };
          const request = requestLike(sandbox, timeoutSeconds);
          const making = held.map((leave) => {
            // It takes the slot before anybody else can.
            leave();
            return maker.make(origin, request);
          });
          const outcomes = await Promise.allSettled(making);
          return outcomes.map((outcome) =>
            outcome.status === "fulfilled" ? outcome.value : this.#problemOf(outcome.reason),
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
    if (!haveSameSystem(snapshot.template, sandbox.template))
      throw snapshotOfOther(snapshot, sandbox.template.name);
    requireDisk(snapshot, sandbox);
    const saved = await snapshots.wholeFilesOf(snapshot);
    const release = snapshots.hold(saved);
    try {
      await lifecycle.restore(sandbox, saved, (machine) =>
        replaceVariables(agents, machine, snapshot.secretNames, placeholders(sandbox.secrets ?? [])),
      );
    } finally {
      release();
    }
  }

  /** Saves the files of a sandbox, with the names of the secrets that it had at any time meanwhile. */
  async #save(sandbox: SandboxRecord, path: string): Promise<KeptFiles> {
    const before = secretNamesOf(sandbox);
    const saved = await this.parts.lifecycle.saveAs(sandbox, path);
    return { ...saved, secretNames: [...new Set([...before, ...secretNamesOf(sandbox)])] };
  }

  #problemOf(error: unknown): Problem {
    if (error instanceof Problem) return error;
    this.parts.log(`A sandbox of a fork could not be made: ${messageOf(error)}`);
    return new Problem(503, "RUNTIME_UNAVAILABLE", "The sandbox could not be made.", { cause: error });
  }
}

/** Whether the files of a sandbox with one template fit on what the other one has. */
const haveSameSystem = (one: LocalTemplate, other: LocalTemplate): boolean =>
  one.name === other.name && one.built?.buildId === other.built?.buildId;

/** Files that do not fit would be found out when those of the sandbox are gone. */
function requireDisk({ id, template }: Snapshot, sandbox: SandboxRecord): void {
  const [needed, { diskMb }] = [template.limits.diskMb, sandbox.template.limits];
  if (needed <= diskMb) return;
  const message = `Snapshot ${id} is of a sandbox with a disk of ${needed} MiB, and this one has ${diskMb} MiB.`;
  throw new Problem(409, "CONFLICT", message, { hint: "Create a sandbox from the snapshot instead." });
}

const secretNamesOf = ({ secrets = [] }: SandboxRecord): readonly string[] =>
  Object.keys(placeholders(secrets));

/** The request that would have made this sandbox, but for its name, template and secrets. */
function requestLike(sandbox: SandboxRecord, timeoutSeconds: number): OwnedCreateRequest {
  const { keyId, metadata, egress, sleep, mounted } = sandbox;
  const mounts = mounted.map(({ target, source, volumeId, readOnly }) => [
    target,
    { ...(volumeId === undefined ? source : { volume: volumeId }), read_only: readOnly },
  ]);
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
