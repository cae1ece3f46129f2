import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isSandboxError, type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import {
  endApiServer,
  kubectl,
  kubernetesOptions,
  ownCluster,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { serverRights } from "../support/kubernetes/rights.js";
import type { LocalServer } from "../support/local-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("servers with their records in the cluster", ({ skip }) => skip(obstacle));
else {
  const args = ["--kubernetes-records", "--pool", "0"];
  let servers: LocalServer[] = [];
  let clients: SandboxClient[] = [];
  const start = async (): Promise<LocalServer> => {
    const server = await startKubernetesServer({ args });
    servers.push(server);
    return server;
  };
  const clientOf = ({ url: baseUrl }: LocalServer, apiKey = "test-key"): SandboxClient => {
    const client = new SandboxClient({ baseUrl, apiKey });
    clients.push(client);
    return client;
  };
  const records = () => kubectl("get", "configmaps", "-l", "cloud-sandbox.dev/record=sandbox", "-o", "name");

  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(servers.map((server) => server.stop("SIGKILL").catch(() => undefined)));
    servers = [];
    clients = [];
    const left = ["configmaps,pods", "-l", "app.kubernetes.io/managed-by=cloud-sandbox"];
    await kubectl("delete", ...left, "--grace-period=0", "--force");
    await kubectl("delete", "leases,secrets", "-l", "app.kubernetes.io/managed-by=cloud-sandbox");
  });

  describe("two servers with their records in the cluster", () => {
    let one: SandboxClient;
    let other: SandboxClient;
    let leader: LocalServer;
    let follower: LocalServer;
    beforeEach(async () => {
      leader = await start();
      follower = await start();
      one = clientOf(leader);
      other = clientOf(follower);
    });

    test("are one: names, idempotency keys, files and streams are the same at both", async () => {
      const name = "shared";
      const named = await Promise.allSettled(
        [one, other].map((client) => client.sandboxes.create({ template: "base", name })),
      );
      const [made] = named.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const [refused] = named.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      if (!made) throw new Error("no sandbox was created");
      expect(refused).toMatchObject({ status: 409 });

      const headers = { "idempotency-key": randomUUID() };
      const repeated = await Promise.all(
        [one, other].map((client) =>
          client.controlPlane.POST("/v1/sandboxes", { body: { template_name: "base" }, headers }),
        ),
      );
      const [id, same] = repeated.map(({ data }) => data?.id);
      expect(same).toBe(id);

      const elsewhere = await other.sandboxes.connect(made.id);
      expect(elsewhere.publicHost).toContain(new URL(follower.url).host);
      await made.files.write("/workspace/note", "written at one");
      expect(await elsewhere.files.readText("/workspace/note")).toBe("written at one");
      const said: string[] = [];
      for await (const event of elsewhere.executeStream("print(6 * 7)"))
        if (event.type === "stdout") said.push(event.text);
      expect(said.join("")).toBe("42\n");
      const seen = [];
      for await (const sandbox of other.sandboxes.list()) seen.push(sandbox.id);
      expect(seen.sort()).toEqual([made.id, id].sort());
      await other.sandboxes.delete(String(id));
      await expect(one.sandboxes.get(String(id))).rejects.toMatchObject({ status: 404 });
      await expect(made.stop()).rejects.toThrow(/no place for files of sandboxes/);
      await elsewhere.delete();
      expect([await records(), await pods()]).toEqual(["", []]);
    });

    test("lose nothing acknowledged when the one that leads is killed under load", async () => {
      const { data: key } = await one.controlPlane.POST("/v1/keys", { body: { name: "ci" } });
      await kubectl("create", "priorityclass", "removed", "--value=0");
      const kept = await one.sandboxes.create({ template: "base", name: "kept", env: { MARK: "mine" } });
      const { data: limited } = await one.controlPlane.POST("/v1/keys", {
        body: { name: "team", priority_class: "removed" },
      });
      await kubectl("delete", "priorityclass", "removed");
      await kept.execute("x = 41");
      const created = new Map<string, Sandbox>();
      const deleted = new Set<string>();
      let isOver = false;
      const work = async (): Promise<void> => {
        while (!isOver) {
          const sandbox = await other.sandboxes.create({ template: "base" }).catch(isFailure);
          if (!sandbox) continue;
          created.set(sandbox.id, sandbox);
          const isDeleted = created.size % 2 === 0 && (await sandbox.delete().then(() => true, isFailure));
          if (isDeleted) deleted.add(sandbox.id);
        }
      };
      const workers = [work(), work()];
      await expect.poll(() => deleted.size, { timeout: 60_000 }).toBeGreaterThan(1);
      await leader.stop("SIGKILL");
      const before = created.size;
      await expect.poll(() => created.size, { timeout: 60_000 }).toBeGreaterThan(before + 1);
      isOver = true;
      await Promise.all(workers);

      const same = await other.sandboxes.connect(kept.id);
      expect((await same.execute("import os; print(x + 1, os.environ['MARK'])")).stdout).toBe("42 mine\n");
      expect((await clientOf(follower, key?.key).sandboxes.create({ template: "base" })).id).toBeDefined();
      await expect(clientOf(follower, limited?.key).sandboxes.create({ template: "base" })).rejects.toThrow(
        /no PriorityClass with name removed was found/,
      );
      const { data: now } = await other.controlPlane.GET("/v1/sandboxes", {
        params: { query: { limit: 100 } },
      });
      const running = new Map((now?.data ?? []).map(({ id, status }) => [id, status]));
      const lost = [...created.keys()].filter((id) => !deleted.has(id) && running.get(id) !== "running");
      const back = [...deleted].filter((id) => running.has(id));
      // A delete that was cut may have been made all the same.
      expect([lost.filter((id) => running.has(id)), back]).toEqual([[], []]);
      expect(lost.length).toBeLessThanOrEqual(workers.length);
      await Promise.all([...running.keys()].map((id) => other.sandboxes.delete(id)));
      expect(await records()).toBe("");
      // A Pod that was being started for the killed server waits for it, and is removed when that is over.
      await expect.poll(pods, { timeout: 240_000, interval: 1000 }).toEqual([]);
    }, 500_000);

    test("change places at once when the one that leads is told to stop", async () => {
      const sandbox = await one.sandboxes.create({ template: "base" });
      await sandbox.execute("x = 41");
      expect(await leader.stop()).toMatchObject({ code: 0 });
      const same = await other.sandboxes.connect(sandbox.id);
      expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
      await expect.poll(follower.log).toMatch(/^This server leads\.$/m);
      await same.delete();
    });

    test("are led on at once when a Pod does not answer, and its sandbox has failed with the reason", async () => {
      const silent = await one.sandboxes.create({ template: "base" });
      const [pod = ""] = await pods();
      const good = await one.sandboxes.create({ template: "base" });
      await good.execute("x = 41");
      await freeze(pod);
      await leader.stop("SIGKILL");
      const same = await other.sandboxes.connect(good.id);
      expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
      expect((await other.sandboxes.get(silent.id)).status).toBe("running");
      await expect((await other.sandboxes.connect(silent.id)).execute("1")).rejects.toThrow(
        /could not reach its machine/,
      );
      const { data } = await other.controlPlane.GET("/v1/sandboxes/{id}", {
        params: { path: { id: silent.id } },
      });
      expect(data).toMatchObject({
        ...{ status: "error", failure_reason: expect.stringContaining("could not reach its machine") },
      });
      await Promise.all([silent.id, good.id].map((id) => other.sandboxes.delete(id)));
      expect([await records(), await pods()]).toEqual(["", []]);
    });
  });

  test("while the API server is away, changes are refused, and what was acknowledged stays", async () => {
    const client = clientOf(await start());
    const sandbox = await client.sandboxes.create({ template: "base" });
    await sandbox.execute("x = 41");
    const again = await endApiServer();
    await expect(sandbox.delete()).rejects.toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
    expect((await client.sandboxes.get(sandbox.id)).status).toBe("running");
    const health = async () => (await client.health()).status;
    await expect.poll(health).toBe("degraded");
    await again();
    await expect.poll(health, { timeout: 60_000 }).toBe("healthy");
    expect((await sandbox.execute("print(x + 1)")).stdout).toBe("42\n");
    await sandbox.delete();
    expect([await records(), await pods()]).toEqual(["", []]);
  });

  test("servers use the rights that the manifests give them, and no more are given", async () => {
    const { given, used } = await serverRights("cloud-sandbox");
    // Records are read again when somebody else has changed them, and deleted beyond 1,000 ended sandboxes. Of the verbs with which
    // clients port-forward, a server uses one.
    // Servers of other tests make Sandboxes, with rights of their own.
    const rare = ["get configmaps", "delete configmaps", "create pods/portforward", "get pods/portforward"];
    const common = (rights: ReadonlySet<string>) =>
      [...rights].filter((right) => !rare.includes(right) && !right.endsWith(" sandboxes")).sort();
    expect(common(used)).toEqual(common(given));
  });

  test("a server that makes its own key says which Secret has it, and does not show it", async () => {
    const main = fileURLToPath(new URL("../../packages/local/dist/main.js", import.meta.url));
    const server = spawn(process.execPath, [main, "serve", ...kubernetesOptions(), ...args], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let said = "";
    for await (const text of server.stdout) {
      said += String(text);
      if (/^API key: .*\n/m.test(said)) server.kill();
    }
    expect(said).toMatch(/^API key: "api_key" in the Secret cloud-sandbox-keys\.$/m);
    const secret = ["get", "secret", "cloud-sandbox-keys", "--output", "jsonpath={.data.api_key}"];
    const key = Buffer.from(await kubectl(...secret), "base64").toString("utf8");
    expect(key).toHaveLength(32);
    expect(said).not.toContain(key);
  });

  describe("records are not kept in the cluster", () => {
    test.each([
      [
        "with another runtime",
        ["--runtime", "bubblewrap", "--kubernetes-records"],
        /Only the runtime kubernetes/,
      ],
      ["with a data directory", ["--data-dir", "/nowhere"], /Leave --data-dir or --kubernetes-records out/],
      [
        "without a kubeconfig",
        ["--kubeconfig", "/nowhere"],
        /^(?!.*unexpected).*no such file.*Name a kubeconfig with --kubeconfig or KUBECONFIG/is,
      ],
    ])("%s", async (_, options, reason) => {
      const { code, stderr } = await runBuilt("local", [
        ...["serve", ...kubernetesOptions(), "--kubernetes-records", ...options],
      ]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
    });
  });
}

/** Whether a call failed as calls do while no server leads. */
function isFailure(error: unknown): undefined {
  if (!isSandboxError(error)) throw error;
}

/** Stops all processes of a Pod's sandbox. */
async function freeze(pod: string): Promise<void> {
  const containerd = [
    "--address",
    join(ownCluster().directory, "node1/containerd/sock"),
    "--namespace",
    "k8s.io",
  ];
  const labels = `labels."io.kubernetes.pod.name"==${pod},labels."io.kubernetes.container.name"==sandbox`;
  const { stdout } = await promisify(execFile)("ctr", [...containerd, "containers", "ls", "--quiet", labels]);
  await promisify(execFile)("ctr", [...containerd, "tasks", "pause", stdout.trim()]);
}

async function pods(): Promise<string[]> {
  const names = await kubectl("get", "pods", "--output", "jsonpath={.items[*].metadata.name}");
  return names.split(" ").filter((name) => name !== "");
}
