import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { codeBlocks, root } from "../support/documents/code-blocks.js";
import { newerKubectl } from "../support/kubernetes/helm.js";
import { kubectl, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("the manifests for kustomize", ({ skip }) => skip(obstacle));
else
  describe("the manifests for kustomize", () => {
    /** The namespace of the guide's overlay. */
    const namespace = "sandboxes";
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "kustomize-"));
      await cp(join(root, "deploy/kubernetes"), join(directory, "deploy/kubernetes"), { recursive: true });
      // What the guide says for Kubernetes 1.20.
      await replaceIn(join(directory, "deploy/kubernetes/server.yaml"), "policy/v1\n", "policy/v1beta1\n");
      await mkdir(join(directory, "production"));
      for (const { file, code } of codeBlocks()) {
        const [, name] = /^# (production\/.*)$/m.exec(code) ?? [];
        if (file === "docs/guides/kubernetes.md" && name) await writeFile(join(directory, name), code);
      }
      await kubectl("create", "namespace", namespace);
    });
    afterAll(async () => {
      await kubectl("delete", "namespace", namespace, "--wait=false");
      await rm(directory, { recursive: true });
    });

    const built = async (program: (...args: string[]) => Promise<string>): Promise<Manifest[]> =>
      parseAllDocuments(await program("kustomize", join(directory, "production"))).map((one) => one.toJS());

    test.each([
      ["deploy/kubernetes", "cloud-sandbox"],
      ["production", namespace],
    ])("the API server takes %s", async (name, place) => {
      const options = ["--namespace", place, "--dry-run=server", "--kustomize", join(directory, name)];
      const said = (await kubectl("apply", ...options)).trim().split("\n");
      expect(said).toHaveLength(8);
      for (const line of said) expect(line).toMatch(/ (created|configured|unchanged) \(server dry run\)$/);
    });

    test("the API server takes the guide's other manifests", async () => {
      const blocks = codeBlocks().filter(
        ({ file, code }) => file === "docs/guides/kubernetes.md" && code.startsWith("apiVersion:"),
      );
      expect(blocks.length).toBeGreaterThan(0);
      for (const [index, { code }] of blocks.entries()) {
        const manifest = join(directory, `block-${index}.yaml`);
        await writeFile(manifest, code);
        const said = (await kubectl("apply", "--dry-run=server", "--filename", manifest)).trim().split("\n");
        expect(said).toHaveLength(parseAllDocuments(code).length);
        for (const line of said) expect(line).toMatch(/ created \(server dry run\)$/);
      }
    });

    test("an overlay sets images, namespace and options", async () => {
      const objects = await built(kubectl);
      const [server] =
        objects.find(({ kind }) => kind === "Deployment")?.spec?.template.spec.containers ?? [];
      expect(server).toMatchObject({ image: "registry.internal/cloud-sandbox-local:2" });
      expect(server?.args.slice(-2)).toEqual([
        "--kubernetes-agent-image=registry.internal/cloud-sandbox-agent:2",
        "--pool=20",
      ]);
      const places = objects.map(({ metadata }) => metadata.namespace);
      expect(new Set(places)).toEqual(new Set([undefined, namespace]));
      const binding = objects.find(({ kind }) => kind === "RoleBinding");
      expect(binding?.subjects).toEqual([{ kind: "ServiceAccount", name: "cloud-sandbox-local", namespace }]);
    });

    test("a newer kubectl makes the same of an overlay, and names the Namespace too", async ({ skip }) => {
      const newer = newerKubectl ?? skip("there is no other kubectl");
      const run = async (...args: string[]) => (await promisify(execFile)(newer, args)).stdout;
      const expected = (await built(kubectl)).map((object) =>
        object.kind === "Namespace"
          ? { ...object, metadata: { ...object.metadata, name: namespace } }
          : object,
      );
      expect(await built(run)).toEqual(expected);
    });
  });

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
  readonly subjects?: readonly object[];
  readonly spec?: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

async function replaceIn(file: string, text: string, by: string): Promise<void> {
  const before = await readFile(file, "utf8");
  expect(before).toContain(text);
  await writeFile(file, before.replace(text, by));
}
