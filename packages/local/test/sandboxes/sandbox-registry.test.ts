import { neverSleeps } from "@cloud-sandbox/server-kit/handlers";
import { beforeEach, describe, expect, test } from "vitest";
import type { SandboxRecord } from "../../src/sandboxes/sandbox-record.js";
import { SandboxRegistry } from "../../src/sandboxes/sandbox-registry.js";
import { MemoryEventLog } from "../../src/store/event-log.js";
import { PendingWrites } from "../../src/store/pending-writes.js";
import { MemorySandboxRepository, type StoredSandbox } from "../../src/store/sandbox-repository.js";

/** A store in which each write of a sandbox ends when the test says so. */
class SlowRepository extends MemorySandboxRepository {
  readonly waiting: ((error?: Error) => void)[] = [];

  override async save(sandbox: StoredSandbox): Promise<void> {
    const saved = { ...sandbox };
    await new Promise<void>((resolve, reject) =>
      this.waiting.push((error) => (error ? reject(error) : resolve())),
    );
    await super.save(saved);
  }
}

const record = (): SandboxRecord => ({
  id: "1",
  template: { id: "base", name: "base", limits: {} as never, languages: [] } as never,
  isolation: "container",
  createdAt: new Date(),
  name: undefined,
  metadata: {},
  egress: { internetAccess: false },
  mounted: [],
  idempotency: undefined,
  keyId: undefined,
  machine: undefined,
  status: "running",
  isStopping: false,
  timeoutSeconds: 60,
  expiresAt: new Date(),
  failureReason: undefined,
  sleep: neverSleeps,
  stopReason: undefined,
});

describe("while a change of a sandbox is saved", () => {
  let repository: SlowRepository;
  let registry: SandboxRegistry;
  let sandbox: SandboxRecord;
  const endWrite = async (error?: Error): Promise<void> => {
    await expect.poll(() => repository.waiting.length).toBeGreaterThan(0);
    repository.waiting.shift()?.(error);
  };
  const kept = async () => (await repository.list())[0];

  beforeEach(async () => {
    repository = new SlowRepository();
    registry = new SandboxRegistry(repository, new PendingWrites(() => undefined), new MemoryEventLog());
    sandbox = record();
    const added = registry.add(sandbox);
    expect(registry.has("1")).toBe(false);
    await endWrite();
    await added;
  });

  test("it is not seen, and neither is one that cannot be saved", async () => {
    const change = registry.change(sandbox, { timeoutSeconds: 600 });
    expect(sandbox.timeoutSeconds).toBe(60);
    await endWrite();
    await change;
    expect(sandbox.timeoutSeconds).toBe(600);
    const refused = expect(registry.change(sandbox, { timeoutSeconds: 900 })).rejects.toThrow("no room");
    await endWrite(new Error("no room"));
    await refused;
    expect(sandbox.timeoutSeconds).toBe(600);
  });

  test("another change waits for it, and both are kept", async () => {
    const expiresAt = new Date(0);
    const changes = [
      registry.change(sandbox, { timeoutSeconds: 600 }),
      registry.change(sandbox, { expiresAt }),
    ];
    await endWrite();
    await endWrite();
    await Promise.all(changes);
    expect(await kept()).toMatchObject({ timeoutSeconds: 600, expiresAt });
  });

  test("a failure that is noted is not overwritten", async () => {
    const change = registry.change(sandbox, { status: "paused" });
    registry.note(sandbox, { status: "error", failureReason: "out of memory" });
    await endWrite();
    await change;
    await endWrite();
    expect(sandbox).toMatchObject({ status: "error", failureReason: "out of memory" });
    await expect.poll(kept).toMatchObject({ status: "error", failureReason: "out of memory" });
  });

  test("the end of the sandbox is not undone", async () => {
    const changes = [{ timeoutSeconds: 600 }, { timeoutSeconds: 900 }].map((change) =>
      registry.change(sandbox, change),
    );
    const outcomes = Promise.allSettled(changes);
    const end = registry.end("1", "deleted");
    await endWrite();
    expect(await outcomes).toMatchObject([{ reason: { status: 404 } }, { reason: { status: 404 } }]);
    expect(await repository.list()).toEqual([]);
    await end;
    expect(repository.waiting).toEqual([]);
  });
});

test("a deadline that passed while no server ran ends a sandbox that slept, and not one that is to sleep then", async () => {
  const repository = new MemorySandboxRepository();
  const sleep = { ...neverSleeps, onTimeout: "stop" } as const;
  const passed = { ...record(), expiresAt: new Date(0) };
  const stored = { machine: undefined, isStopping: false } as const;
  for (const sandbox of [
    { ...passed, id: "runs", sleep, status: "running" },
    { ...passed, id: "sleeps", sleep, status: "stopped" },
    { ...passed, id: "is deleted", status: "running" },
  ] as const)
    await repository.save(sandbox);
  const registry = new SandboxRegistry(repository, new PendingWrites(() => undefined), new MemoryEventLog());
  const restored = await registry.restore((found) => ({
    ...record(),
    ...found,
    ...stored,
    secrets: undefined,
    sleep,
  }));
  expect(restored.map(({ id }) => id)).toEqual(["runs"]);
});
