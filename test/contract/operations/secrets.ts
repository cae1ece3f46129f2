import type { Sandbox } from "cloud-sandbox";
import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

const value = "credential-of-the-contract-suite";
const hosts = ["api.example.com"];

export const secretProofs: Readonly<Record<string, Proof>> = {
  listSandboxSecrets: proof(
    "tells each secret but its value, or the server has none",
    withSecret(async ({ controlPlane }, { id }) => {
      const params = { path: { id } };
      const { data } = await success(controlPlane.GET("/v1/sandboxes/{id}/secrets", { params }));
      expect(data).toMatchObject([{ name: "TOKEN", hosts, state: "ready" }]);
      const got = await success(controlPlane.GET("/v1/sandboxes/{id}", { params }));
      expect(got.secrets).toEqual(data);
      expect(JSON.stringify([data, got])).not.toContain(value);
    }),
  ),

  setSandboxSecret: proof(
    "gives the environment a placeholder, which stays, or the server has none",
    withSecret(async (bench, sandbox) => {
      const set = (body: { value: string; hosts: string[] }) => put(bench, sandbox.id, "OTHER", body);
      const { placeholder } = await success(set({ value, hosts }));
      expect((await sandbox.commands.run("echo $OTHER")).stdout).toBe(`${placeholder}\n`);
      expect(await success(set({ value: `${value}-2`, hosts }))).toMatchObject({
        name: "OTHER",
        placeholder,
      });
      expect(await set({ value, hosts: ["10.0.0.1"] })).toMatchObject({ error: { code: "INVALID_REQUEST" } });
      await bench.withSandbox(async ({ id }) => {
        expect(await put(bench, id, "OTHER", { value, hosts })).toMatchObject({
          error: { code: "CONFLICT" },
        });
      });
    }),
  ),

  deleteSandboxSecret: proof(
    "takes a secret and its variable, or the server has none",
    withSecret(async ({ controlPlane }, sandbox) => {
      const params = { path: { id: sandbox.id, name: "TOKEN" } };
      const remove = () => controlPlane.DELETE("/v1/sandboxes/{id}/secrets/{name}", { params });
      expect(await success(remove())).toMatchObject({ name: "TOKEN", deleted: true });
      expect(await success(remove())).toMatchObject({ deleted: true });
      expect((await sandbox.commands.run("echo [$TOKEN]")).stdout).toBe("[]\n");
    }),
  ),

  listSecrets: proof(
    "tells each stored secret but its value, or the server stores none",
    withStored(async ({ controlPlane }) => {
      const { data } = await success(controlPlane.GET("/v1/secrets"));
      expect(data.find((each) => each.name === stored)).toMatchObject({ hosts, state: "ready" });
      expect(JSON.stringify(data)).not.toContain(value);
    }),
  ),

  setSecret: proof(
    "stores a secret, which sandboxes name, or the server stores none",
    withStored(async (bench) => {
      const options = { internetAccess: true, secrets: { TOKEN: { from: stored } } };
      await bench.withSandbox(async (sandbox) => {
        const [secret] = await sandbox.secrets.list();
        expect(secret).toMatchObject({ name: "TOKEN", from: stored, hosts, state: "ready" });
        expect((await sandbox.commands.run("echo $TOKEN")).stdout).toBe(`${secret?.placeholder}\n`);
      }, options);
      const wrong = bench.withSandbox(async () => undefined, {
        internetAccess: true,
        secrets: { TOKEN: { from: "no-such-secret" } },
      });
      await expect(wrong).rejects.toMatchObject({ code: "SECRET_NOT_FOUND" });
      expect(await store(bench, { value, hosts: ["10.0.0.1"] })).toMatchObject({
        error: { code: "INVALID_REQUEST" },
      });
    }),
  ),

  deleteSecret: proof(
    "deletes a stored secret, or the server stores none",
    withStored(async ({ controlPlane }) => {
      const remove = () => controlPlane.DELETE("/v1/secrets/{name}", { params: { path: { name: stored } } });
      expect(await success(remove())).toMatchObject({ name: stored, deleted: true });
      expect(await success(remove())).toMatchObject({ deleted: true });
      const { data } = await success(controlPlane.GET("/v1/secrets"));
      expect(data.map(({ name }) => name)).not.toContain(stored);
    }),
  ),

  setSandboxEgress: proof("replaces both lists, or the server cannot", (bench) =>
    bench.withSandbox(
      async ({ id }) => {
        const params = { path: { id } };
        const set = (body: { allow?: string[]; deny?: string[] }) =>
          bench.controlPlane.PUT("/v1/sandboxes/{id}/egress", { params, body });
        const answer = await set({ allow: ["pypi.org"] });
        if (isLacking(answer.error)) return;
        expect(answer.data).toMatchObject({ allow: ["pypi.org"] });
        expect(await success(bench.controlPlane.GET("/v1/sandboxes/{id}", { params }))).toMatchObject({
          egress: { allow: ["pypi.org"] },
        });
        expect(await set({ deny: ["not a host"] })).toMatchObject({ error: { code: "INVALID_REQUEST" } });
      },
      { internetAccess: true, egress: { deny: ["example.com"] } },
    ),
  ),
};

const put = ({ controlPlane }: Bench, id: string, name: string, secret: { value: string; hosts: string[] }) =>
  controlPlane.PUT("/v1/sandboxes/{id}/secrets/{name}", {
    params: { path: { id, name } },
    body: { env: true, ...secret },
  });

const stored = "of-the-contract-suite";

const store = ({ controlPlane }: Bench, secret: { value: string; hosts: string[] }) =>
  controlPlane.PUT("/v1/secrets/{name}", {
    params: { path: { name: stored } },
    body: { env: true, ...secret },
  });

/** Stores a secret for a test. A server that stores none must say so. */
function withStored(use: (bench: Bench) => Promise<void>): (bench: Bench) => Promise<void> {
  return async (bench) => {
    const answer = await store(bench, { value, hosts });
    if (isLacking(answer.error)) return;
    expect(answer.data).toMatchObject({ name: stored, hosts, state: "ready" });
    try {
      await use(bench);
    } finally {
      await bench.controlPlane.DELETE("/v1/secrets/{name}", { params: { path: { name: stored } } });
    }
  };
}

const isLacking = (error: unknown): boolean =>
  ["NOT_FOUND", "SECRETS_UNAVAILABLE"].includes(String((error as { code?: string } | undefined)?.code));

/** Uses a sandbox with a secret. A server without secrets must say so. */
function withSecret(use: (bench: Bench, sandbox: Sandbox) => Promise<void>): (bench: Bench) => Promise<void> {
  return async (bench) => {
    const options = { internetAccess: true, secrets: { TOKEN: { value, hosts } } };
    try {
      await bench.withSandbox((sandbox) => use(bench, sandbox), options);
    } catch (error) {
      if (!isLacking(error)) throw error;
    }
  };
}
