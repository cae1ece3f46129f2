import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import {
  kubectl,
  kubernetesOptions,
  ownCluster,
  startKubernetesServer,
  withoutCustomResources,
} from "../support/kubernetes/kubernetes-server.js";
import { SandboxController } from "../support/kubernetes/sandbox-controller.js";
import type { LocalServer } from "../support/local-server.js";

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const crd = pathOf("../support/kubernetes/sandbox-crd.yaml");
const rights = pathOf("../../deploy/kubernetes/agent-sandbox.yaml");
const usualRights = pathOf("../../deploy/kubernetes/sandboxes.yaml");
const option = ["--kubernetes-sandboxes", "agent-sandbox"];
const namespaced = ["--kubernetes-namespace", "cloud-sandbox"];
/** A namespace that the controller of these tests does not watch. */
const elsewhere = "without-controller";

const obstacle = withoutCustomResources();
if (obstacle !== undefined) test("sandboxes of agent-sandbox", ({ skip }) => skip(obstacle));
else {
  const start = (...args: readonly string[]): Promise<LocalServer> =>
    startKubernetesServer({ args: ["--pool", "0", ...option, ...args] });

  describe("a server with --kubernetes-sandboxes agent-sandbox does not start", () => {
    const refusal = async (): Promise<string> => {
      const { code, stderr } = await runBuilt("local", ["serve", ...kubernetesOptions(), ...option]);
      expect(code).toBe(1);
      return stderr;
    };

    test("where the cluster does not have the API; the error names both fixes", async () => {
      expect(await refusal()).toMatch(
        /the cluster has no agents\.x-k8s\.io API\b.*install agent-sandbox.*leave --kubernetes-sandboxes out/s,
      );
    });

    test("without the rights; the error names the missing one and the manifest that gives it", async () => {
      await installApi();
      expect(await refusal()).toMatch(
        /refuses this user: sandboxes\.agents\.x-k8s\.io is forbidden.*cannot list.*deploy\/kubernetes\/agent-sandbox\.yaml/s,
      );
    });
  });

  describe("a sandbox of agent-sandbox", () => {
    let controller: SandboxController;
    let server: LocalServer;
    let client: SandboxClient;
    let unmade: Promise<string>;
    beforeAll(async () => {
      await installApi();
      await kubectl("apply", "--filename", rights);
      unmade = createWithoutController();
      unmade.catch(() => undefined);
      controller = await SandboxController.start("v1beta1");
      server = await start();
      client = clientOf(server);
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
      expect(await left()).toEqual([]);
      await controller?.stop();
      await kubectl("apply", "--filename", usualRights);
      await kubectl("delete", "namespace", elsewhere, "--wait=false");
      await kubectl("delete", "--filename", crd);
    });

    test("is a Sandbox, whose Pod its controller makes; deleting it leaves neither", async () => {
      const sandbox = await client.sandboxes.create({ template: "base", env: { HIDDEN: "value-of-mine" } });
      expect((await sandbox.execute("print(6 * 7)")).stdout).toBe("42\n");
      const [object, pod] = await objects();
      expect(object).toMatchObject({ apiVersion: "agents.x-k8s.io/v1beta1", kind: "Sandbox" });
      expect(pod?.metadata).toMatchObject({
        name: object?.metadata.name,
        labels: { ...object?.metadata.labels, "agents.x-k8s.io/sandbox-name-hash": expect.any(String) },
        ownerReferences: [{ kind: "Sandbox", uid: object?.metadata.uid, controller: true }],
      });
      for (const text of ["value-of-mine", sandbox.id, server.apiKey])
        expect(JSON.stringify([object, pod])).not.toContain(text);
      await sandbox.delete();
      await expect.poll(left).toEqual([]);
    });

    test("of whose Pod there is no room is refused with what the cluster says to the controller", async () => {
      await kubectl("create", "quota", "full", "--hard=pods=0");
      try {
        await expect(client.sandboxes.create({ template: "base" })).rejects.toThrow(
          /controller of agent-sandbox cannot make the Pod: .*exceeded quota: full/,
        );
      } finally {
        await kubectl("delete", "quota", "full");
      }
      await expect.poll(left).toEqual([]);
      expect((await client.executeIsolated("print(6 * 7)")).stdout).toBe("42\n");
    });

    test.each(["pod", "sandbox"])(
      "whose %s somebody deletes has ended, and nothing is left of it",
      async (kind) => {
        const sandbox = await client.sandboxes.create({ template: "base" });
        const [object] = await objects();
        await kubectl("delete", kind, object?.metadata.name ?? "", "--wait=false");
        // The garbage collector of the cluster looks for new types every 30 s.
        const now = () => client.sandboxes.get(sandbox.id);
        await expect.poll(async () => (await now()).status, { timeout: 60_000 }).toBe("error");
        expect((await now()).toJSON().failureReason).toMatch(
          /Pod was lost: it has ended.*Somebody deleted it/,
        );
        await expect.poll(left).toEqual([]);
        await sandbox.delete();
      },
    );

    test("goes on with the next server, when the last one was killed; one whose Pod is another now does not", async () => {
      const directory = await mkdtemp(join(tmpdir(), "agent-sandbox-data-"));
      let own = await start("--data-dir", directory);
      try {
        const first = clientOf(own);
        const replaced = await first.sandboxes.create({ template: "base" });
        const [object] = await objects();
        const sandbox = await first.sandboxes.create({ template: "base" });
        await sandbox.execute("x = 41");
        await first.close();
        await own.stop("SIGKILL");
        const name = object?.metadata.name ?? "";
        const uid = () => kubectl("get", "pod", name, "--output", "jsonpath={.metadata.uid}").catch(() => "");
        const before = await uid();
        await kubectl("delete", "pod", name, "--grace-period=0", "--force");
        await expect.poll(uid).not.toMatch(new RegExp(`^(${before})?$`));

        own = await start("--data-dir", directory);
        await using next = clientOf(own);
        const same = await next.sandboxes.connect(sandbox.id);
        expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
        const other = await next.sandboxes.get(replaced.id);
        expect([other.status, other.toJSON().failureReason]).toEqual([
          "error",
          expect.stringMatching(/another machine is in its place/),
        ]);
        await Promise.all([same.delete(), next.sandboxes.delete(replaced.id)]);
        await expect.poll(left).toEqual([]);
      } finally {
        await own.stop("SIGKILL");
        await rm(directory, { recursive: true });
      }
    });

    test("of a server that was killed ends, and the next server removes it", {
      timeout: 240_000,
    }, async () => {
      const killed = await start();
      await using first = clientOf(killed);
      await first.sandboxes.create({ template: "base" });
      await killed.stop("SIGKILL");
      const phases = () => kubectl("get", "pods", "--output", "jsonpath={.items[*].status.phase}");
      // It waits 60 s for a server.
      await expect.poll(phases, { timeout: 120_000, interval: 1000 }).toMatch(/^(Succeeded|Failed)$/);
      const next = await start();
      await expect.poll(next.log).toMatch(/^Pods of servers that have ended are removed: 1\.$/m);
      await next.stop();
      await expect.poll(left).toEqual([]);
    });

    test("goes on with a server that has the option, also if it is only a Pod; not with one that makes Pods", async () => {
      const directory = await mkdtemp(join(tmpdir(), "agent-sandbox-data-"));
      // The account has no right to make Pods.
      const ownPods = ["--kubernetes-sandboxes", "pods", "--kubeconfig", ownCluster().admin, ...namespaced];
      const data = ["--data-dir", directory];
      let own = await start(...data, ...ownPods);
      try {
        await using first = clientOf(own);
        const pod = await first.sandboxes.create({ template: "base" });
        await pod.execute("x = 41");
        await own.stop("SIGKILL");
        own = await start(...data);
        await using next = clientOf(own);
        const same = await next.sandboxes.connect(pod.id);
        expect((await same.execute("print(x + 1)")).stdout).toBe("42\n");
        const other = await next.sandboxes.create({ template: "base" });
        await same.delete();
        expect(await left()).toHaveLength(2);
        await own.stop("SIGKILL");
        own = await start(...data, ...ownPods);
        await using last = clientOf(own);
        const { status, failureReason } = (await last.sandboxes.get(other.id)).toJSON();
        expect([status, failureReason]).toEqual([
          "error",
          expect.stringMatching(
            /belongs to the Sandbox .*start the server with --kubernetes-sandboxes agent/,
          ),
        ]);
        await last.sandboxes.delete(other.id);
        expect(await left()).toHaveLength(2);
      } finally {
        await own.stop("SIGKILL");
        await kubectl("delete", "sandboxes", "--all");
        await rm(directory, { recursive: true });
      }
      await expect.poll(left, { timeout: 60_000 }).toEqual([]);
    });

    test("that no controller makes a Pod of is refused after 30 s, with what is missing", async () => {
      expect(await unmade).toMatch(
        /No controller of agent-sandbox has made the Pod within 30 s\. Check that it runs, and that it watches the namespace without-controller\. The Sandbox has no conditions/,
      );
      expect(await kubectl("--namespace", elsewhere, "get", "sandboxes,pods", "--output", "name")).toBe("");
    });

    // The last of these tests: no other can go on while the API server does not serve v1beta1.
    test("is made in v1alpha1 where the cluster has no later version", async () => {
      await serveBeta(false);
      await controller.stop();
      controller = await SandboxController.start("v1alpha1");
      try {
        const old = await start();
        await using user = clientOf(old);
        const sandbox = await user.sandboxes.create({ template: "base" });
        expect((await sandbox.execute("print(6 * 7)")).stdout).toBe("42\n");
        const [, pod] = await objects("v1alpha1");
        expect(pod?.metadata.ownerReferences).toMatchObject([{ apiVersion: "agents.x-k8s.io/v1alpha1" }]);
        await sandbox.delete();
        await expect.poll(() => objects("v1alpha1")).toEqual([]);
        await old.stop();
      } finally {
        await serveBeta(true);
      }
    });
  });
}

const clientOf = ({ url, apiKey }: LocalServer): SandboxClient => new SandboxClient({ baseUrl: url, apiKey });

async function installApi(): Promise<void> {
  await kubectl("apply", "--filename", crd);
  await kubectl("wait", "--for=condition=Established", "--filename", crd);
}

/** Why a create fails in a namespace that no controller watches. */
async function createWithoutController(): Promise<string> {
  await kubectl("create", "namespace", elsewhere);
  const server = await startKubernetesServer({
    args: ["--pool", "0", ...option, "--kubeconfig", ownCluster().admin, "--kubernetes-namespace", elsewhere],
  });
  try {
    await using client = clientOf(server);
    const failure = await client.sandboxes.create({ template: "base" }).then(
      () => "it was created",
      (error: unknown) => String(error),
    );
    return failure;
  } finally {
    await server.stop();
  }
}

/** Whether the API server serves the version v1beta1. Resolves when it does, or does not. */
async function serveBeta(isServed: boolean): Promise<void> {
  const patch = JSON.stringify([{ op: "replace", path: "/spec/versions/0/served", value: isServed }]);
  await kubectl("patch", "crd", "sandboxes.agents.x-k8s.io", "--type=json", "--patch", patch);
  const versions = () => kubectl("get", "--raw", "/apis/agents.x-k8s.io");
  await expect.poll(async () => (await versions()).includes('"v1beta1"')).toBe(isServed);
}

interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Record<string, string>;
    readonly ownerReferences?: readonly object[];
  };
}

/** The Sandboxes of the namespace, and then its Pods. */
async function objects(version = "v1beta1"): Promise<ClusterObject[]> {
  const types = `sandboxes.${version}.agents.x-k8s.io,pods`;
  return JSON.parse(await kubectl("get", types, "--output", "json")).items;
}

async function left(): Promise<string[]> {
  return (await objects()).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}
