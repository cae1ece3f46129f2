import { Problem } from "@cloud-sandbox/server-kit";
import {
  compareListings,
  noFileToCompare,
  sinceTemplate,
  snapshotOfOtherSandbox,
  type TextDiff,
  UnequalListingsError,
} from "@cloud-sandbox/server-kit/changes";
import pLimit, { type LimitFunction } from "p-limit";
import type { AgentCalls } from "../agents/agent-calls.js";
import { AgentFiles } from "../changes/agent-files.js";
import type { BytePath } from "../changes/byte-path.js";
import { ChangeLimits } from "../changes/change-limits.js";
import { protocolLine } from "../changes/content-stream.js";
import { converse, startOnHost } from "../changes/copy-processes.js";
import { isVersionControl } from "../changes/special-names.js";
import type { Change } from "../changes/tree-comparison.js";
import { messageOf } from "../errors/message-of.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { conflict } from "../saved/save-limit.js";
import type { Snapshots } from "../saved/snapshots.js";
import type { LayerStore } from "../store/layer-store.js";
import type { KeyCooldowns } from "../tokens/key-ring.js";
import { type MachineSupply, newSandboxId } from "./machine-supply.js";
import type { Origin } from "./sandbox-maker.js";
import { reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxSlots } from "./sandbox-slots.js";

/** Milliseconds that the files of both machines may take to be read. */
const limitMs = 120_000;
/** Comparisons of an API key at a time: code decides how long they take, and others must not wait for that. */
const mostOfKey = 2;

interface BaselineParts {
  readonly machines: Pick<MachineSupply, "abandon" | "boot">;
  readonly agents: AgentCalls;
  readonly layers: LayerStore;
  readonly snapshots: Snapshots;
  readonly slots: SandboxSlots;
  readonly cooldowns: KeyCooldowns;
  readonly log: (message: string) => void;
}

/** What is compared with a sandbox: `template`, or the id or name of one of its snapshots. */
interface Baseline {
  readonly since: string;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

interface BothFiles {
  readonly now: AgentFiles;
  readonly before: AgentFiles;
}

/** Reads the files of both, which are listed whole or without what code cannot have changed. */
type Read<Result> = (filesOf: (isWhole: boolean) => BothFiles) => Promise<Result>;

/**
 * Compares sandboxes with what they began with. For each comparison a machine is started from the template or the snapshot, as for a
 * sandbox, and both agents are asked for their files: so one way serves all runtimes, and nobody else has to know how their files are
 * kept. The machine has no name, no access to the internet, and no record, and ends with the comparison.
 */
export class Baselines {
  readonly #limits = new Map<string | undefined, LimitFunction>();
  readonly #closing = new AbortController();
  readonly #comparing = new Set<Promise<unknown>>();

  constructor(private readonly parts: BaselineParts) {}

  /** What has changed since, by path. Throws a 413 problem beyond 100,000 changes, 32 MiB of them, or a million files. */
  async changes(
    sandbox: SandboxRecord,
    baseline: Baseline,
  ): Promise<{ readonly changes: readonly Change[]; readonly since: string }> {
    const { result: changes, since } = await this.#compare(sandbox, baseline, async (filesOf) => {
      try {
        return await compared(filesOf(false));
      } catch (error) {
        if (!(error instanceof UnequalListingsError)) throw error;
        return await compared(filesOf(true));
      }
    });
    return { changes, since };
  }

  /** What has changed in one file since. Throws the 404 problem if there is none on either side. */
  async diff(sandbox: SandboxRecord, path: BytePath, baseline: Baseline): Promise<TextDiff> {
    const { result } = await this.#compare(sandbox, baseline, (filesOf) => {
      const { now, before } = filesOf(false);
      return Promise.all([before.side(path), now.side(path)]);
    });
    const [before, after] = result;
    const pieces: Buffer[] = [];
    const sides = { path: path.slice(1), before, after };
    await converse(startOnHost("sides"), sides, (piece) => void pieces.push(piece));
    const answer = JSON.parse(Buffer.concat(pieces).toString()) as TextDiff | null;
    if (!answer) throw noFileToCompare();
    return answer;
  }

  /** Ends all comparisons, and resolves when their machines have ended. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the control plane is being stopped"));
    await Promise.allSettled(this.#comparing);
  }

  async #compare<Result>(
    sandbox: SandboxRecord,
    { since, signal }: Baseline,
    read: Read<Result>,
  ): Promise<{ readonly result: Result; readonly since: string }> {
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    const comparing = this.#limitOf(sandbox.keyId)(async () => {
      ended.throwIfAborted();
      const machine = reachableMachine(sandbox);
      const { since: found, ...origin } = await this.#origin(sandbox, since);
      const result = await this.#withMachine(origin, sandbox, ended, (baseline) =>
        this.#read([machine, baseline], ended, read),
      );
      return { result, since: found };
    });
    this.#comparing.add(comparing);
    try {
      return await comparing;
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw conflict(`The files of sandbox ${sandbox.id} could not be compared`, error, "Try again.");
    } finally {
      this.#comparing.delete(comparing);
    }
  }

  #limitOf(keyId: string | undefined): LimitFunction {
    const limit = this.#limits.get(keyId) ?? pLimit(mostOfKey);
    this.#limits.set(keyId, limit);
    return limit;
  }

  async #origin(sandbox: SandboxRecord, since: string): Promise<Origin & { readonly since: string }> {
    const { snapshots } = this.parts;
    if (since === sinceTemplate) return { since, template: sandbox.template };
    const snapshot = snapshots.get(since, sandbox.keyId);
    if (snapshot.sandboxId !== sandbox.id) throw snapshotOfOtherSandbox(snapshot);
    const saved = await snapshots.wholeFilesOf(snapshot);
    return { since: snapshot.id, template: snapshot.template, saved, hold: () => snapshots.hold(saved) };
  }

  /** Starts a machine, which counts as a sandbox of the API key until `use` has ended. */
  async #withMachine<Result>(
    { template, saved, hold }: Origin,
    { keyId }: SandboxRecord,
    signal: AbortSignal,
    use: (machine: Machine) => Promise<Result>,
  ): Promise<Result> {
    const { machines, slots, cooldowns, layers, log } = this.parts;
    cooldowns.requireOver(keyId);
    slots.requireSlot(keyId);
    const releases = [slots.hold(keyId), layers.hold(template.built?.layers ?? []), hold?.()];
    const id = newSandboxId();
    const abandon = (): void => machines.abandon(id);
    signal.addEventListener("abort", abandon);
    let machine: Machine | undefined;
    try {
      machine = await machines.boot(template, id, saved, { keyId, mounted: [], secrets: undefined });
      return await use(machine);
    } finally {
      signal.removeEventListener("abort", abandon);
      await machine
        ?.destroy()
        .catch((error: unknown) =>
          log(`Something of a machine for a comparison remains: ${messageOf(error)}`),
        );
      for (const release of releases) release?.();
    }
  }

  async #read<Result>(
    [now, before]: readonly [Machine, Machine],
    ended: AbortSignal,
    read: Read<Result>,
  ): Promise<Result> {
    const { agents } = this.parts;
    const limit = AbortSignal.timeout(limitMs);
    // What goes on reading when the other side has failed is ended too.
    const own = new AbortController();
    const signal = AbortSignal.any([ended, limit, own.signal]);
    const filesOf = (isWhole: boolean): BothFiles => ({
      now: new AgentFiles(agents, now, signal, isWhole),
      before: new AgentFiles(agents, before, signal, isWhole),
    });
    try {
      return await read(filesOf);
    } catch (error) {
      throw limit.aborted ? new Error(`reading them took longer than ${limitMs / 1000} s`) : error;
    } finally {
      own.abort();
    }
  }
}

function compared(files: BothFiles): Promise<readonly Change[]> {
  const limits = new ChangeLimits();
  const onChange = (change: Change): void => {
    limits.add(change);
    limits.addBytes(protocolLine(change).length);
  };
  return compareListings({ ...files, isVersionControl, onChange });
}
