import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PackageServer, startPackageServer } from "../support/package-server.js";

const name = "packages.test";
let server: PackageServer;
let local: LocalControlPlane;
let client: SandboxClient;
let sandbox: Sandbox;
let indexUrl: string;

beforeAll(async () => {
  server = await startPackageServer(name);
  indexUrl = `http://${name}:${server.httpPort}/simple`;
  local = await startLocalControlPlane({
    pool: 1,
    egress: {
      allowPrivate: [`${name}:${server.httpPort}`],
      resolve: async (asked) => (asked === name ? ["127.0.0.1"] : []),
    },
  });
  client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
  sandbox = await client.sandboxes.create({ internetAccess: true });
});
afterAll(async () => {
  await client?.close();
  await local?.close();
  await server?.[Symbol.asyncDispose]();
});

describe("packages for Python", { tags: ["python3-pip", "git", "openssl"] }, () => {
  test("are there for code that runs later, and for what runs already", async () => {
    await sandbox.execute("before = 1");
    const lines: string[] = [];
    await sandbox.pythonPackages.install(["hello-pip"], { indexUrl, onLine: (line) => lines.push(line) });
    expect(lines).toContainEqual(expect.stringMatching(/^Successfully installed hello-pip/));
    const { stdout, stderr } = await sandbox.execute("import hello_pip; print(before)");
    expect({ stdout, stderr }).toEqual({ stdout: "installed by pip\n1\n", stderr: "" });
  });

  test("that are not there are an error with what pip said", async () => {
    const failure = await sandbox.pythonPackages.install(["no-such"], { indexUrl }).catch((error) => error);
    expect(failure).toMatchObject({ name: "SandboxError", code: "PACKAGES_NOT_INSTALLED" });
    expect(String(failure)).toMatch(/No matching distribution found for no-such/);
  });

  test("are not waited for when the caller leaves, and pip is ended", async () => {
    const leave = new AbortController();
    const onLine = (): void => leave.abort();
    const install = sandbox.pythonPackages.install(["hello-pip", "other"], {
      indexUrl,
      onLine,
      signal: leave.signal,
    });
    await expect(install).rejects.toMatchObject({ name: "AbortError" });
    const running = (await sandbox.processes.list()).filter(({ status }) => status === "running");
    expect(running).toEqual([]);
  });

  test.for([
    ["nothing", []],
    ["an option", ["--index-url=http://elsewhere"]],
    ["an empty name", [""]],
    ["two lines", ["numpy\n-r/etc/passwd"]],
  ] as const)("are not asked for by %s", async ([, requirements]) => {
    await expect(sandbox.pythonPackages.install(requirements)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  test("are not asked for at what is no index", async () => {
    await expect(sandbox.pythonPackages.install(["a"], { indexUrl: "file:///etc" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});
