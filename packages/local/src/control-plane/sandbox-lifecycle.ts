import { sandboxFailed, sandboxPaused, sandboxStopped } from "@cloud-sandbox/protocol/handlers";
import { Problem } from "@cloud-sandbox/protocol/server";
import pLimit, { type LimitFunction } from "p-limit";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-wish.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import type { LayerStore } from "../templates/layer-store.js";
import type { MachineSupply } from "./machine-supply.js";
import type { SandboxFiles } from "./sandbox-files.js";
import { reachableMachine, type SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

export interface LifecycleParts {
  readonly registry: SandboxRegistry;
  readonly machines: MachineSupply;
  readonly files: SandboxFiles;
  readonly layers: LayerStore;
  readonly egress: EgressGateway;
}

/**
 * Takes sandboxes from one state to another, one step of one sandbox at a time. Asking for the state it is in already
 * changes nothing. The end of a sandbox does not wait for a step under way: it breaks it off.
 */
export class SandboxLifecycle {
  readonly #turns = new WeakMap<SandboxRecord, Turn>();

  constructor(private readonly parts: LifecycleParts) {}

  pause(sandbox: SandboxRecord): Promise<void> {
    return this.#step(sandbox, async () => {
      if (sandbox.status === "paused") return;
      const machine = reachableMachine(sandbox);
      await machine.pause().catch(async (error: unknown) => {
        await machine.resume();
        throw conflict(`Sandbox ${sandbox.id} cannot be paused`, error, "Delete it if it must not go on.");
      });
      this.#enter(sandbox, "paused");
    });
  }

  resume(sandbox: SandboxRecord): Promise<void> {
    return this.#step(sandbox, async () => {
      if (sandbox.status === "running") return;
      await this.#machineOf(sandbox).resume();
      this.#enter(sandbox, "running");
    });
  }

  /** Ends the processes and keeps the files. When those cannot be kept, the sandbox goes on without its processes. */
  stop(sandbox: SandboxRecord): Promise<void> {
    const { files, registry } = this.parts;
    return this.#step(sandbox, async (signal) => {
      if (sandbox.status === "stopped") return;
      const machine = this.#machineOf(sandbox);
      sandbox.isStopping = true;
      try {
        if (sandbox.status === "paused") await machine.resume();
        await files.save(machine, sandbox.template.limits, signal);
        if (!registry.has(sandbox.id)) return;
        sandbox.machine = undefined;
        sandbox.failureReason = undefined;
        this.#enter(sandbox, "stopped");
      } catch (error) {
        await machine.resume();
        if (registry.has(sandbox.id) && sandbox.status === "paused") this.#enter(sandbox, "running");
        throw conflict(
          `Sandbox ${sandbox.id} could not be stopped`,
          error,
          "Delete it, or free some room and try again.",
        );
      } finally {
        sandbox.isStopping = false;
      }
      await machine.destroy();
    });
  }

  /** Boots a fresh machine and gives it the files, with the agent's state among them. Tokens given before open it too. */
  start(sandbox: SandboxRecord): Promise<void> {
    const { files, machines, egress } = this.parts;
    return this.#step(sandbox, async (signal) => {
      if (sandbox.status === "running") return;
      if (sandbox.status === "paused") throw sandboxPaused(sandbox.id);
      if (sandbox.status === "error") throw sandboxFailed(sandbox);
      sandbox.status = "creating";
      let machine: Machine | undefined;
      try {
        const disk = await files.disk(sandbox.id);
        machine = await machines.boot(sandbox.template, sandbox.id, disk);
        if (disk === undefined) await files.restore(machine, signal);
        egress.setRules(sandbox.id, egressRules(sandbox.egress));
        signal.throwIfAborted();
      } catch (error) {
        sandbox.status = "stopped";
        await machine?.destroy();
        if (error instanceof Problem) throw error;
        throw conflict(
          `Sandbox ${sandbox.id} could not be started`,
          error,
          "It is still stopped; try again.",
        );
      }
      sandbox.machine = machine;
      this.#enter(sandbox, "running");
      this.watch(sandbox, machine);
      await files.remove(sandbox.id);
    });
  }

  /** Breaks off what is under way and removes everything; the registry has forgotten the sandbox before. */
  async remove(sandbox: SandboxRecord): Promise<void> {
    const turn = this.#turn(sandbox);
    turn.ended.abort();
    // A step that waits for what runs in the machine ends with it.
    const destroyed = sandbox.machine?.destroy();
    await turn.limit(async () => {
      await destroyed;
      await sandbox.machine?.destroy();
      await this.parts.files.remove(sandbox.id);
      // It may have been the last of its template's that could be started again.
      if (sandbox.template.built) await this.parts.layers.collect();
    });
  }

  /** Notes when the machine breaks down under the sandbox. */
  watch(sandbox: SandboxRecord, machine: Machine): void {
    void machine.exited.then(({ message }) => {
      if (sandbox.machine !== machine || !this.parts.registry.has(sandbox.id)) return;
      sandbox.failureReason = message;
      this.#enter(sandbox, "error");
    });
  }

  #machineOf(sandbox: SandboxRecord): Machine {
    if (sandbox.status === "error") throw sandboxFailed(sandbox);
    if (sandbox.machine === undefined) throw sandboxStopped(sandbox.id);
    return sandbox.machine;
  }

  #enter(sandbox: SandboxRecord, status: SandboxRecord["status"]): void {
    sandbox.status = status;
    this.parts.registry.save(sandbox);
  }

  #step(sandbox: SandboxRecord, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { limit, ended } = this.#turn(sandbox);
    return limit(async () => {
      // It may have ended while others had their turn: this says how.
      this.parts.registry.get(sandbox.id);
      await work(ended.signal).catch((error: unknown) => {
        this.parts.registry.get(sandbox.id);
        throw error;
      });
    });
  }

  #turn(sandbox: SandboxRecord): Turn {
    const known = this.#turns.get(sandbox);
    if (known) return known;
    const turn = { limit: pLimit(1), ended: new AbortController() };
    this.#turns.set(sandbox, turn);
    return turn;
  }
}

interface Turn {
  readonly limit: LimitFunction;
  /** Aborts when the sandbox ends. */
  readonly ended: AbortController;
}

function conflict(what: string, cause: unknown, advice: string): Problem {
  const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.?$/, ".");
  return new Problem(409, "CONFLICT", `${what}: ${reason} ${advice}`, { cause });
}
