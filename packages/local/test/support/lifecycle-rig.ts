import { neverSleeps, type SleepSettings } from "@cloud-sandbox/server-kit/handlers";
import type { Machine } from "../../src/runtime/sandbox-runtime.js";
import { Deadlines } from "../../src/sandboxes/deadlines.js";
import { SandboxLifecycle } from "../../src/sandboxes/sandbox-lifecycle.js";
import type { SandboxRecord } from "../../src/sandboxes/sandbox-record.js";
import { SandboxRegistry } from "../../src/sandboxes/sandbox-registry.js";
import { SandboxSlots } from "../../src/sandboxes/sandbox-slots.js";
import { MemoryEventLog } from "../../src/store/event-log.js";
import { PendingWrites } from "../../src/store/pending-writes.js";
import { MemorySandboxRepository } from "../../src/store/sandbox-repository.js";

/** Seconds until sandboxes that sleep are deleted. */
export const keepStoppedSeconds = 3600;

export const newMachine = (id: string, more: Partial<Machine> = {}): Machine => ({
  id,
  isolation: "namespace",
  agentAddress: { path: "/none" },
  exited: new Promise(() => undefined),
  isPaused: false,
  pause: async () => undefined,
  resume: async () => undefined,
  isAgentStopped: async () => false,
  restartAgent: async () => undefined,
  keep: async () => undefined,
  destroy: async () => undefined,
  ...more,
});

/** The life cycle of sandboxes with real records and slots. Machines and saved files only resolve, or do what the test says. */
export class LifecycleRig {
  readonly registry = new SandboxRegistry(
    new MemorySandboxRepository(),
    new PendingWrites(() => undefined),
    new MemoryEventLog(),
  );
  readonly files = {
    of: async () => ({ path: "/none", isDisk: false }),
    save: async (): Promise<void> => undefined,
    remove: async (_id: string): Promise<void> => undefined,
  };
  readonly passed: string[] = [];
  readonly deadlines = new Deadlines((id) => this.onDeadline(id));
  readonly logged: string[] = [];
  readonly lifecycle: SandboxLifecycle;
  boot = async (id: string): Promise<Machine> => newMachine(id);
  onDeadline = (id: string): void => void this.passed.push(id);

  constructor({ slots = 10, stopped = 10 } = {}) {
    const { deadlines, files, registry } = this;
    const counts = {
      existing: (keyId?: string) => registry.countAwake(keyId),
      failed: (keyId?: string) => registry.countFailed(keyId),
      stopped: (keyId?: string) => registry.countStopped(keyId),
    };
    this.lifecycle = new SandboxLifecycle({
      registry,
      deadlines,
      files: files as never,
      machines: { boot: (_: unknown, id: string) => this.boot(id), abandon: () => undefined } as never,
      egress: { setRules: () => undefined, setSecrets: () => undefined } as never,
      layers: { collect: async () => undefined } as never,
      volumes: { copies: { remove: async () => undefined } } as never,
      cooldowns: { begin: () => undefined } as never,
      slots: new SandboxSlots(slots, counts, () => undefined, stopped),
      keepStoppedSeconds,
      log: (message) => this.logged.push(message),
    });
  }

  async add(
    id: string,
    { sleep, machine, ...more }: Partial<Omit<SandboxRecord, "sleep">> & { sleep?: Partial<SleepSettings> },
  ): Promise<SandboxRecord> {
    const sandbox: SandboxRecord = {
      id,
      template: { id: "base", name: "base", limits: { diskMb: 1024 }, languages: [] } as never,
      isolation: "namespace",
      createdAt: new Date(),
      name: undefined,
      metadata: {},
      egress: { internetAccess: false },
      mounted: [],
      idempotency: undefined,
      keyId: undefined,
      machine,
      status: machine ? "running" : "stopped",
      isStopping: false,
      timeoutSeconds: 60,
      expiresAt: new Date(Date.now() + 60_000),
      failureReason: undefined,
      stopReason: undefined,
      sleep: { ...neverSleeps, ...sleep },
      ...more,
    };
    await this.registry.add(sandbox);
    return sandbox;
  }
}
