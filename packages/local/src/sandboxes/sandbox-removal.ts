import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxFiles } from "../saved/sandbox-files.js";
import type { LayerStore } from "../store/layer-store.js";
import type { Volumes } from "../volumes/volumes.js";
import type { MachineSupply } from "./machine-supply.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { StepQueues } from "./step-queues.js";

export interface RemovalParts {
  readonly steps: StepQueues;
  readonly machines: Pick<MachineSupply, "abandon">;
  readonly files: Pick<SandboxFiles, "remove">;
  readonly layers: Pick<LayerStore, "collect">;
  readonly volumes: Pick<Volumes, "copies">;
  /** Ends the retries. */
  readonly closing: AbortSignal;
  readonly log: (message: string) => void;
}

/** The pauses between attempts to remove a deleted sandbox. They double from the first to the longest. */
const firstRetryMs = 500;
const longestRetryMs = 30_000;

/** Removes what sandboxes that have ended leave on the host. */
export class SandboxRemoval {
  constructor(private readonly parts: RemovalParts) {}

  /**
   * Aborts the running step and removes the sandbox's machine and files. Call it after the registry dropped the sandbox.
   * A removal that fails is repeated until it succeeds.
   */
  async remove(sandbox: SandboxRecord): Promise<void> {
    try {
      await this.#removeOnce(sandbox);
    } catch (error) {
      this.parts.log(
        `Sandbox ${sandbox.id} was deleted, but removing its processes or files failed; trying again: ${String(error)}`,
      );
      void this.#removeLater(sandbox);
    }
  }

  async #removeLater(sandbox: SandboxRecord): Promise<void> {
    const { closing: signal } = this.parts;
    for (let pause = firstRetryMs; !signal.aborted; pause = Math.min(2 * pause, longestRetryMs)) {
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
      const isGone = await this.#removeOnce(sandbox).then(
        () => true,
        () => false,
      );
      if (isGone) return;
    }
  }

  async #removeOnce(sandbox: SandboxRecord): Promise<void> {
    const { steps, machines, files, volumes, layers } = this.parts;
    const queue = steps.of(sandbox);
    queue.ended.abort();
    // Destroy the machine before the running step has ended: the step may wait for a process in the machine.
    const destroyed = sandbox.machine?.destroy();
    // The step may go on after this has failed: the failure is reported below, and must be nobody's unhandled rejection meanwhile.
    destroyed?.catch(() => undefined);
    machines.abandon(sandbox.id);
    await queue.limit(async () => {
      await destroyed;
      await sandbox.machine?.destroy();
      await files.remove(sandbox.id);
      await volumes.copies.remove(sandbox);
      // The sandbox may have been the last user of its template's layers.
      if (sandbox.template.built) await layers.collect();
    });
  }
}
