import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import {
  endApiServer,
  kubectl,
  kubernetesOptions,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("the kubernetes runtime", ({ skip }) => skip(obstacle));
else {
  describe("a Pod", () => {
    let server: LocalServer;
    let client: SandboxClient;
    beforeAll(async () => {
      server = await startKubernetesServer({ args: ["--pool", "0"] });
      client = clientOf(server);
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
      expect(await pods()).toEqual([]);
    });

    test("has no rights in the cluster, no capability, and a root that nobody can write", async () => {
      await using sandbox = await client.sandboxes.create({
        template: "base",
        env: { HIDDEN: "value-of-mine" },
      });
      const { stdout } = await sandbox.execute(
        `id -u; ls /var/run/secrets 2>&1; env | grep -c KUBERNETES; cat /etc/resolv.conf | grep nameserver
grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status
touch /etc/passwd / /usr/bin/env /opt/cloud-sandbox/planted 2>&1 | grep -vc 'Read-only\\|Permission'`,
        { language: "bash" },
      );
      const none = "\t0000000000000000";
      expect(stdout.split("\n")).toEqual([
        ...["1000", expect.stringContaining("No such file"), "0", "nameserver 127.0.0.1"],
        ...[`CapPrm:${none}`, `CapEff:${none}`, `CapBnd:${none}`, `CapAmb:${none}`],
        ...["NoNewPrivs:\t1", "Seccomp:\t2", "0", ""],
      ]);
      const spec = await kubectl("get", "pods", "--output", "json");
      for (const text of ["value-of-mine", sandbox.id, server.apiKey]) expect(spec).not.toContain(text);
    });

    test("lets nobody reach the agent of another, who does not have its secret", async () => {
      await using one = await client.sandboxes.create({ template: "base" });
      await using other = await client.sandboxes.create({ template: "base" });
      const addresses = await kubectl("get", "pods", "--output", "jsonpath={.items[*].status.podIP}");
      const guess =
        "curl --silent --show-error --noproxy '*' --max-time 10 --http2-prior-knowledge -H 'authorization: guessed'";
      const { stdout } = await one.execute(
        `for address in ${addresses}; do ${guess} --data x "http://$address:7777/agent" 2>&1 && echo reached; done`,
        { language: "bash" },
      );
      expect(stdout.match(/^curl: /gm)).toHaveLength(2);
      expect(stdout).not.toContain("reached");
      expect((await other.execute("echo alive", { language: "bash" })).stdout).toBe("alive\n");
    });

    test("that somebody deletes is a sandbox that has ended, and others go on", async () => {
      const sandbox = await client.sandboxes.create({ template: "base" });
      const call = sandbox.execute("sleep 60", { language: "bash" });
      const outcome = expect(call).rejects.toThrow(/ended|exist|lost|gone/);
      await kubectl("delete", "pods", "--all", "--wait=false");
      await outcome;
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    });

    test("cannot be paused; the refusal names what can be done", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      await expect(sandbox.pause()).rejects.toThrow(/Kubernetes cannot freeze a Pod: stop the sandbox/);
      expect((await sandbox.execute("echo alive", { language: "bash" })).stdout).toBe("alive\n");
    });

    test("may use more than the machine that its server runs on has", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base", limits: { vcpu: 64 } });
      expect(sandbox.id).toBeDefined();
      const path = "jsonpath={.items[*].spec.containers[*].resources.limits.cpu}";
      expect((await kubectl("get", "pods", "--output", path)).split(" ")).toContain("64");
    });

    test("that the namespace has no room for is refused with what the cluster says", async () => {
      await kubectl("create", "quota", "full", "--hard=pods=0");
      try {
        // The cluster heeds a quota when it has counted.
        const counted = () => kubectl("get", "quota", "full", "--output", "jsonpath={.status.used}");
        await expect.poll(counted).toContain("pods");
        await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(/exceeded quota: full/);
      } finally {
        await kubectl("delete", "quota", "full");
      }
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    });
  });

  test("an image that cannot be pulled fails the create with its name, and leaves nothing", async () => {
    const server = await startKubernetesServer({
      args: ["--pool", "0", "--kubernetes-image", "localhost:1/none:1"],
    });
    await using client = clientOf(server);
    const { data: templates } = await client.controlPlane.GET("/v1/templates");
    expect(JSON.stringify(templates)).toContain("localhost:1/none:1");
    await expect(client.sandboxes.create({ template: "localhost:1/none:1" })).rejects.toThrow(
      /cannot start: .*localhost:1\/none:1/,
    );
    await server.stop();
    expect(await pods()).toEqual([]);
  });

  describe("a sandbox goes on", () => {
    const pgrep = "pgrep --count sleep";

    test("when the API server was away", async () => {
      const server = await startKubernetesServer({ args: ["--pool", "0"] });
      try {
        await using client = clientOf(server);
        await using sandbox = await client.sandboxes.create({ template: "base" });
        await sandbox.execute("x = 41");
        const cut = expect(sandbox.execute("sleep 600", { language: "bash" })).rejects.toThrow();
        await expect
          .poll(async () => (await sandbox.execute(pgrep, { language: "bash" })).stdout)
          .toBe("1\n");
        const start = await endApiServer();
        await cut;
        await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(
          /Kubernetes did not create the Pod/,
        );
        await start();
        expect((await sandbox.execute("print(x + 1)")).stdout).toBe("42\n");
        await expect
          .poll(async () => (await client.executeIsolated("print(6 * 7)").catch(() => undefined))?.stdout)
          .toBe("42\n");
      } finally {
        await server.stop();
      }
    });

    test.each([
      ["was killed", "SIGKILL", []],
      ["left it running", "SIGTERM", ["--leave-running"]],
    ] as const)("with the next server, when the last one %s", async (_, signal, options) => {
      const directory = await mkdtemp(join(tmpdir(), "kubernetes-data-"));
      const args = ["--pool", "0", "--data-dir", directory, ...options];
      let server = await startKubernetesServer({ args });
      try {
        const client = clientOf(server);
        const removed = await client.sandboxes.create({ template: "base" });
        const [pod = ""] = await pods();
        const sandbox = await client.sandboxes.create({ template: "base", env: { MARK: "kept" } });
        await sandbox.execute("x = 41");
        const job = await sandbox.executeBackground("sleep 5; echo $MARK", { language: "bash" });
        await client.close();
        await server.stop(signal);
        await kubectl("delete", "pod", pod, "--grace-period=0", "--force");

        server = await startKubernetesServer({ args });
        await using next = clientOf(server);
        const same = await next.sandboxes.connect(sandbox.id);
        expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
        expect((await same.processes.get(job.id).result()).stdout).toBe("kept\n");
        expect((await next.sandboxes.get(removed.id)).status).toBe("error");
        await Promise.all([same.delete(), next.sandboxes.delete(removed.id)]);
        expect(await pods()).toEqual([]);
      } finally {
        await server.stop("SIGKILL");
        await rm(directory, { recursive: true });
      }
    });
  });

  test("a server without room to try the network goes on with its sandboxes, and starts none before it has tried", async () => {
    const directory = await mkdtemp(join(tmpdir(), "kubernetes-data-"));
    const kept = ["--pool", "0", "--data-dir", directory];
    const closed = kubernetesOptions().filter((option) => option !== "--kubernetes-open-network");
    let server = await startKubernetesServer({ args: kept });
    try {
      await using first = clientOf(server);
      const sandbox = await first.sandboxes.create({ template: "base" });
      await sandbox.execute("x = 41");
      await server.stop("SIGKILL");
      await kubectl("create", "quota", "full", "--hard=pods=1");
      const count = () => kubectl("get", "quota", "full", "--output", "jsonpath={.status.used.pods}");
      await expect.poll(count).toBe("1");

      server = await startLocalServer({ args: [...closed, ...kept] });
      expect(server.log()).toMatch(
        /^On Kubernetes, the network is tried before .*exceeded quota: full.*\.$/m,
      );
      const { apiKey, url } = server;
      await using next = new SandboxClient({ apiKey, baseUrl: url, retry: false });
      const same = await next.sandboxes.connect(sandbox.id);
      expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
      const create = () => next.sandboxes.create({ template: "base" });
      await expect(create()).rejects.toMatchObject({
        status: 503,
        message: expect.stringMatching(/no room to try the network: .*exceeded quota: full/),
      });
      await kubectl("delete", "quota", "full");
      // The cluster of the tests enforces no policy.
      await expect(create()).rejects.toMatchObject({
        status: 503,
        message: expect.stringMatching(/reaches the network of the cluster.*--kubernetes-open-network/),
      });
      await same.delete();
      expect(await pods()).toEqual([]);
    } finally {
      await kubectl("delete", "quota", "full", "--ignore-not-found");
      await server.stop("SIGKILL");
      await rm(directory, { recursive: true });
    }
  });

  test("Pods of a server that is killed end, and the next server removes them", {
    timeout: 240_000,
  }, async () => {
    const server = await startKubernetesServer({ args: ["--pool", "0"] });
    await using client = clientOf(server);
    await client.sandboxes.create({ template: "base" });
    await server.stop("SIGKILL");
    const phases = () => kubectl("get", "pods", "--output", "jsonpath={.items[*].status.phase}");
    // They wait 60 s for a server.
    await expect.poll(phases, { timeout: 120_000, interval: 1000 }).toMatch(/^(Succeeded|Failed)$/);
    const next = await startKubernetesServer({ args: ["--pool", "0"] });
    await using other = clientOf(next);
    expect((await other.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    await expect.poll(next.log).toMatch(/^Pods of servers that have ended are removed: 1\.$/m);
    await next.stop();
    expect(await pods()).toEqual([]);
  });

  describe("a server does not start", () => {
    test("where code in a Pod would reach the network; the error names both fixes", async () => {
      const options = kubernetesOptions().filter((option) => option !== "--kubernetes-open-network");
      const { code, stderr } = await runBuilt("local", ["serve", ...options]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/reaches the network of the cluster/);
      expect(stderr).toMatch(/--kubernetes-open-network/);
      expect(await pods()).toEqual([]);
    });

    test("without a cluster that answers, or without rights there", async () => {
      const directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
      try {
        const path = join(directory, "kubeconfig");
        const config = JSON.parse(await kubectl("config", "view", "--raw", "--output", "json"));
        const start = async (change: (config: typeof ownConfig) => void): Promise<string> => {
          const ownConfig = structuredClone(config);
          change(ownConfig);
          await writeFile(path, JSON.stringify(ownConfig));
          const { code, stderr } = await runBuilt("local", [
            "serve",
            ...kubernetesOptions(),
            "--kubeconfig",
            path,
          ]);
          expect(code).toBe(1);
          return stderr;
        };
        const ownConfig = config;
        expect(await start(({ users }) => Object.assign(users[0].user, { token: "wrong" }))).toMatch(
          /API server refuses this user/,
        );
        expect(
          await start(({ clusters }) =>
            Object.assign(clusters[0].cluster, { server: "https://127.0.0.1:1" }),
          ),
        ).toMatch(/ECONNREFUSED.*--kubeconfig or KUBECONFIG/s);
        const { code, stderr } = await runBuilt("local", [
          "serve",
          ...kubernetesOptions(),
          "--kubeconfig",
          `${path}-none`,
        ]);
        expect([code, stderr]).toEqual([1, expect.stringMatching(/no such file.*KUBECONFIG/s)]);
      } finally {
        await rm(directory, { recursive: true });
      }
    });
  });
}

const clientOf = ({ url, apiKey }: LocalServer): SandboxClient => new SandboxClient({ baseUrl: url, apiKey });

async function pods(): Promise<string[]> {
  const names = await kubectl("get", "pods", "--output", "jsonpath={.items[*].metadata.name}");
  return names.split(" ").filter((name) => name !== "");
}
