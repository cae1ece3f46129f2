import { ApiException, type CoreV1Api, type V1ConfigMap } from "@kubernetes/client-node";
import { beforeEach, describe, expect, test } from "vitest";
import { ClusterSandboxes } from "../../src/cluster/cluster-sandboxes.js";
import { MemoryEventLog } from "../../src/store/event-log.js";
import { PendingWrites } from "../../src/store/pending-writes.js";
import type { StoredEnd, StoredSandbox } from "../../src/store/sandbox-repository.js";

/** ConfigMaps of an API server, which refuses to make one twice, and to replace another version than the newest. */
class ConfigMaps {
  readonly objects = new Map<string, V1ConfigMap>();
  /** Called after each write; throws if its answer is lost. */
  answer = (): void => undefined;
  #version = 0;

  readonly api = {
    listNamespacedConfigMap: async () => ({ items: structuredClone([...this.objects.values()]) }),
    readNamespacedConfigMap: async ({ name }: { name: string }) => structuredClone(this.#at(name)),
    createNamespacedConfigMap: async ({ body }: { body: V1ConfigMap }) => {
      if (this.objects.has(body.metadata?.name ?? "")) throw refusal(409);
      return this.put(body);
    },
    replaceNamespacedConfigMap: async ({ name, body }: { name: string; body: V1ConfigMap }) => {
      if (this.#at(name).metadata?.resourceVersion !== body.metadata?.resourceVersion) throw refusal(409);
      return this.put(body);
    },
    deleteNamespacedConfigMap: async ({ name }: { name: string }) => {
      this.#at(name);
      this.objects.delete(name);
    },
  } as unknown as CoreV1Api;

  put(body: V1ConfigMap): V1ConfigMap {
    this.#version += 1;
    const object = structuredClone({
      ...body,
      metadata: { ...body.metadata, resourceVersion: `${this.#version}` },
    });
    this.objects.set(body.metadata?.name ?? "", object);
    this.answer();
    return object;
  }

  #at(name: string): V1ConfigMap {
    const object = this.objects.get(name);
    if (!object) throw refusal(404);
    return object;
  }
}

const refusal = (status: number): Error => new ApiException(status, "", undefined, {});

const sandbox: StoredSandbox = {
  id: "1",
  template: {
    ...{ id: "base", name: "base", languages: [], ownLimits: undefined },
    limits: { memoryMb: 64, diskMb: 64, vcpu: 1, maxProcesses: 32 },
  } as unknown as StoredSandbox["template"],
  isolation: "container",
  status: "running",
  createdAt: new Date(1),
  timeoutSeconds: 600,
  expiresAt: new Date(2),
  name: undefined,
  egress: { internetAccess: false },
  metadata: {},
  mounted: [],
  failureReason: undefined,
  idempotency: undefined,
  keyId: undefined,
};
const endOf = (id: string, at = 0): StoredEnd => ({
  ...{ id, end: "deleted", createdAt: new Date(0), expiresAt: new Date(at), keyId: undefined },
});

describe("sandboxes in the cluster", () => {
  let maps: ConfigMaps;
  let isHeld: boolean;
  let lines: string[];
  const open = (): ClusterSandboxes =>
    new ClusterSandboxes({
      cluster: { core: maps.api, coordination: undefined as never, namespace: "default" },
      term: {
        get isHeld() {
          return isHeld;
        },
        over: new AbortController().signal,
      },
      writes: new PendingWrites(() => undefined),
      events: new MemoryEventLog(),
      log: (line) => lines.push(line),
    });
  beforeEach(() => {
    maps = new ConfigMaps();
    isHeld = true;
    lines = [];
  });

  test("are read by the next leader as they were saved, and as they ended", async () => {
    const first = open();
    await first.save({ ...sandbox, timeoutSeconds: 60 });
    await first.save(sandbox);
    await first.save({ ...sandbox, id: "2" });
    await first.end(endOf("2"));
    const next = open();
    expect(await next.list()).toEqual([sandbox]);
    expect(next.findEnded("2")).toEqual(endOf("2"));
    await next.save({ ...sandbox, name: "changed" });
    expect(await open().list()).toEqual([{ ...sandbox, name: "changed" }]);
  });

  test("are saved again when somebody has changed or removed their objects by hand", async () => {
    const sandboxes = open();
    await sandboxes.save(sandbox);
    const [name = "", object] = [...maps.objects][0] ?? [];
    maps.put({ ...object, data: { record: "scribbled" } });
    await sandboxes.save(sandbox);
    expect(await open().list()).toEqual([sandbox]);
    maps.objects.delete(name);
    await sandboxes.save(sandbox);
    expect(await open().list()).toEqual([sandbox]);
  });

  test("whose record is damaged are left out, and the log names it", async () => {
    await open().save(sandbox);
    maps.put({ metadata: { name: "cloud-sandbox-2" }, data: { record: '{"id":"2"}' } });
    expect(await open().list()).toEqual([sandbox]);
    expect(lines).toEqual([expect.stringMatching(/ConfigMap cloud-sandbox-2 is damaged/)]);
  });

  test("keep the fields that another release has written", async () => {
    await open().save({ ...sandbox, ...{ later: { field: 1 } } });
    const older = open();
    await older.list();
    await older.save({ ...sandbox, name: "changed" });
    const [{ data } = {}] = maps.objects.values();
    expect(JSON.parse(data?.record ?? "")).toMatchObject({ later: { field: 1 }, name: "changed" });
  });

  test("whose format only a newer release understands are not touched; the error says what to do", async () => {
    await open().save(sandbox);
    const [{ metadata, data } = {}] = maps.objects.values();
    maps.put({ ...(metadata && { metadata }), data: { ...data, format: "2" } });
    await expect(open().list()).rejects.toThrow(/newer release.*cloud-sandbox-1.*Update this server/);
  });

  test("are not changed by a server that has closed them for the next one", async () => {
    const sandboxes = open();
    await sandboxes.save(sandbox);
    sandboxes.close();
    await expect(sandboxes.save({ ...sandbox, name: "late" })).rejects.toMatchObject({ status: 503 });
    expect(await open().list()).toEqual([sandbox]);
  });

  test("are not there if their first record was written without an answer", async () => {
    const sandboxes = open();
    maps.answer = () => {
      maps.answer = () => undefined;
      throw new Error("cut");
    };
    await expect(sandboxes.save(sandbox)).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    await expect.poll(() => maps.objects.size).toBe(0);
  });

  test("are not changed by a server that does not lead, or that does not lead any more when it is answered", async () => {
    const sandboxes = open();
    await sandboxes.save(sandbox);
    isHeld = false;
    await expect(sandboxes.save(sandbox)).rejects.toMatchObject({ status: 503 });
    isHeld = true;
    maps.answer = () => {
      isHeld = false;
    };
    await expect(sandboxes.end(endOf("1"))).rejects.toMatchObject({ status: 503 });
    expect(sandboxes.findEnded("1")).toBeUndefined();
  });

  test("are forgotten after a thousand others have ended", async () => {
    const sandboxes = open();
    for (let count = 0; count < 1003; count += 1) await sandboxes.end(endOf(`e${count}`, count));
    await expect.poll(() => maps.objects.size).toBe(1000);
    const next = open();
    await next.list();
    expect([next.findEnded("e2"), next.findEnded("e3")?.id]).toEqual([undefined, "e3"]);
  });
});
