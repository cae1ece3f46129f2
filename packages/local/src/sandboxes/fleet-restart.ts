import { neverSleeps, withOwnLimits } from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import type { TemplateCatalogue } from "../catalogue/template-catalogue.js";
import { messageOf } from "../errors/message-of.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { filesAreGone, type SandboxFiles } from "../saved/sandbox-files.js";
import type { StoredSandbox } from "../store/sandbox-repository.js";
import type { Volumes } from "../volumes/volumes.js";
import type { MachineSupply } from "./machine-supply.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import { asRecorded, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

/** Milliseconds that a shutdown waits for files to be saved, and how many sandboxes save theirs at a time. */
const shutdownMs = 20_000;
const savesAtATime = 4;
const adoptionsAtATime = 64;

interface RestartParts {
  readonly registry: SandboxRegistry;
  readonly lifecycle: SandboxLifecycle;
  readonly machines: MachineSupply;
  readonly files: SandboxFiles;
  readonly templates: TemplateCatalogue;
  readonly volumes: Volumes;
  readonly isKept: boolean;
  readonly keepsFiles: boolean;
  readonly leavesRunning: boolean;
  readonly adoptsLater: boolean;
  readonly log: (message: string) => void;
}

/** Hands sandboxes over from a control plane that ends to the next one. */
export class FleetRestart {
  /** The sandboxes whose machines are still looked for, since the last control plane ended. */
  readonly #adopting = new Map<string, Promise<void>>();

  constructor(private readonly parts: RestartParts) {}

  /**
   * Loads the sandboxes of the previous control plane. Stopped ones can be started again. Running ones go on if their machines do,
   * and are marked as failed otherwise.
   */
  async restore(): Promise<readonly SandboxRecord[]> {
    const { registry, files, lifecycle, volumes, isKept, keepsFiles, adoptsLater, log } = this.parts;
    if (!isKept) return [];
    const sandboxes = await registry.restore((stored) => this.#revive(stored));
    const limit = pLimit(adoptionsAtATime);
    const running = sandboxes.filter(({ status }) => status === "running" || status === "paused");
    for (const sandbox of running) {
      const adopting = lifecycle
        .adopt(sandbox, () => limit(() => this.#machineOf(sandbox)))
        // It was deleted meanwhile.
        .catch(() => undefined)
        .finally(() => this.#adopting.delete(sandbox.id));
      this.#adopting.set(sandbox.id, adopting);
    }
    const adopted = Promise.all(this.#adopting.values()).then(() => {
      const count = running.filter(({ machine }) => machine !== undefined).length;
      if (count > 0) log(`Sandboxes that have gone on without a server: ${count}.`);
    });
    if (!adoptsLater) await adopted;
    const stopped = sandboxes.filter(({ status }) => status === "stopped");
    const kept = keepsFiles ? await files.keepOnly(new Set(stopped.map(({ id }) => id))) : new Set();
    for (const sandbox of stopped)
      if (!kept.has(sandbox.id)) registry.note(sandbox, { status: "error", failureReason: filesAreGone });
    if (keepsFiles) await volumes.copies.keepOnly(sandboxes);
    return sandboxes;
  }

  /** Resolves when it is known whether the machine of a sandbox goes on that an earlier control plane had. */
  settled(id: string): Promise<void> | undefined {
    return this.#adopting.get(id);
  }

  /** Leaves sandboxes running if the server does so, else stops them. Those that take too long are not waited for. */
  async keepAll(): Promise<void> {
    const { leavesRunning, log } = this.parts;
    const limit = pLimit(savesAtATime);
    const late = new Promise<void>((resolve) => void setTimeout(resolve, shutdownMs).unref());
    const keep = (sandbox: SandboxRecord): Promise<void> =>
      leavesRunning ? this.parts.lifecycle.leave(sandbox) : this.parts.lifecycle.stop(sandbox, "shutdown");
    const kept = this.parts.registry.list().map((sandbox) =>
      limit(() =>
        keep(sandbox).catch((error: unknown) => {
          if (sandbox.status !== "error") log(messageOf(error));
        }),
      ),
    );
    await Promise.race([Promise.all(kept), late]);
    limit.clearQueue();
  }

  #revive(stored: StoredSandbox): SandboxRecord {
    // A built template may have been rebuilt since: the sandbox keeps the layers it was created with.
    const current = stored.template.built ? undefined : this.parts.templates.find(stored.template.name);
    const template = current ? withOwnLimits(current, stored.template.ownLimits) : stored.template;
    const secrets = this.parts.registry.secretsOf(stored);
    const { sleep = neverSleeps, stopReason } = stored;
    return { ...stored, template, secrets, sleep, stopReason, machine: undefined, isStopping: false };
  }

  /** The machine of a sandbox that an earlier control plane left running, or why the sandbox has failed. */
  async #machineOf(sandbox: SandboxRecord): Promise<Machine | string> {
    const { machines, log } = this.parts;
    try {
      const machine = await machines.adopt(sandbox);
      if (machine) return await asRecorded(sandbox, machine);
    } catch (error) {
      const reason = messageOf(error);
      log(`Sandbox ${sandbox.id} ran when the last control plane ended, and is lost: ${reason}`);
      return `The control plane ended while the sandbox was running, and the next one could not reach its machine: ${reason}`;
    }
    return "The control plane ended while the sandbox was running, and its machine is gone, so the sandbox's processes and files are lost.";
  }
}
