import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { needs } from "../support/needs.js";
import { npm, otherNode } from "../support/scratch-project.js";

const run = promisify(execFile);
const workspace = fileURLToPath(new URL("../..", import.meta.url));
const packages = ["client", "local", "mcp", "mcp-runner", "cli"];

const client = JSON.parse(readFileSync(join(workspace, "packages/client/package.json"), "utf8")) as {
  exports: Record<string, unknown>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

/**
 * Packages that entry points of the client need but do not install (peer dependencies), in the versions that tests use.
 */
function peers(): string[] {
  return Object.keys(client.peerDependencies)
    .filter((name) => !name.startsWith("cloud-sandbox"))
    .map((name) => `${name}@${client.devDependencies[name]}`);
}

/** The names by which programs import the client's entry points. */
function entryPoints(): string[] {
  return Object.keys(client.exports)
    .filter((path) => !path.endsWith(".json"))
    .map((path) => path.replace(/^\./, "cloud-sandbox"));
}

// All packages, packed as for the registry and installed in an empty project.
describe("packed and installed", { timeout: 240_000 }, () => {
  let project: string;
  let server: LocalServer;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "installed-"));
    const tarballs = join(project, "tarballs");
    await run("node", [join(workspace, "scripts/pack.mjs"), tarballs]);
    await writeFile(join(project, "package.json"), '{ "private": true }\n');
    const files = (await readdir(tarballs)).map((name) => join(tarballs, name));
    expect(files.length).toBeGreaterThanOrEqual(packages.length);
    await npm(project, ["install", ...files, ...peers()]);
    server = await startLocalServer({ args: ["--pool", "1"] });
  }, 600_000);

  afterAll(async () => {
    await server?.stop();
    if (project !== undefined) await rm(project, { recursive: true, force: true });
  });

  test.each([
    "cloud-sandbox",
    "cloud-sandbox-local",
    "cloud-sandbox-mcp",
    "cloud-sandbox-mcp-runner",
    "cloud-sandbox-cli",
  ])("%s brings its own licence", async (name) => {
    const licence = await readFile(join(project, "node_modules", name, "LICENSE"), "utf8");
    expect(licence).toBe(await readFile(join(workspace, "LICENSE"), "utf8"));
  });

  test.each(["cloud-sandbox-local", "cloud-sandbox-mcp", "cloud-sandbox-cli"])(
    "%s brings the licences of what it bundles",
    async (name) => {
      const licences = await readFile(
        join(project, "node_modules", name, "dist", "THIRD-PARTY-LICENSES.txt"),
        "utf8",
      );
      // Look for a library that only this package bundles: busboy is in the agent, undici in the client.
      expect(licences).toContain(name === "cloud-sandbox-local" ? "@fastify/busboy" : "undici");
      expect(licences).toContain("Permission is hereby granted");
    },
  );

  const nodes = [
    ["the Node.js of these tests", async () => process.execPath],
    ["Node.js 26", () => otherNode("26.10.0")],
  ] as const;
  const programs = [
    ["import", "program.mjs", 'import { SandboxClient } from "cloud-sandbox";\n'],
    ["require", "program.cjs", 'const { SandboxClient } = require("cloud-sandbox");\n'],
  ] as const;

  describe.each(nodes)("on %s", (name, node) => {
    beforeEach(({ skip }) => skip(...needs("libatomic1", name === "Node.js 26")));

    test.each(programs)("the client works by %s", async (_, file, load) => {
      await writeFile(
        join(project, file),
        `${load}(async () => {
  const client = new SandboxClient();
  const { stdout } = await client.executeIsolated("print(6 * 7)");
  console.log(stdout.trim());
  await client.close();
})();\n`,
      );
      const env = {
        PATH: process.env.PATH,
        CLOUD_SANDBOX_API_KEY: server.apiKey,
        CLOUD_SANDBOX_BASE_URL: server.url,
      };
      const { stdout, stderr } = await run(await node(), [file], { cwd: project, env });
      expect({ stdout, stderr }).toEqual({ stdout: "42\n", stderr: "" });
    });

    test.each(["cloud-sandbox-local", "cloud-sandbox-mcp", "cloud-sandbox"])("%s starts", async (command) => {
      const main = join(project, "node_modules", ".bin", command);
      const { stdout } = await run(await node(), [main, "--version"], { cwd: project });
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    });

    test("the command line runs a program on this machine, and takes over its exit code", async () => {
      const main = join(project, "node_modules", ".bin", "cloud-sandbox");
      const call = run(await node(), [main, "run", "--code", "print('hello'); raise SystemExit(3)"], {
        cwd: project,
        env: { PATH: process.env.PATH },
      });
      await expect(call).rejects.toMatchObject({ code: 3, stdout: "hello\n", stderr: "" });
    });
  });

  test("await using deletes what it made", { tags: ["libatomic1"] }, async () => {
    await writeFile(
      join(project, "disposed.mjs"),
      `import { SandboxClient } from "cloud-sandbox";
await using client = new SandboxClient();
const made = async () => {
  await using sandbox = await client.sandboxes.create();
  return sandbox.id;
};
console.log(await client.sandboxes.get(await made()).catch(({ name }) => name));\n`,
    );
    const env = { CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
    const { stdout } = await run(await otherNode("26.10.0"), ["disposed.mjs"], { cwd: project, env });
    expect(stdout).toMatch(/^(NotFound|SandboxExpired)Error\n$/);
  });

  test("every entry point can be imported and required, with the same names", async () => {
    const program = `const names = (module) => Object.keys(module).filter((name) => name !== "default").sort().join();
      (async () => {
        for (const entryPoint of ${JSON.stringify(entryPoints())}) {
          const required = names(require(entryPoint));
          console.log(entryPoint, required !== "" && names(await import(entryPoint)) === required);
        }
      })();`;
    const { stdout } = await run(process.execPath, ["-e", program], { cwd: project });
    expect(stdout.trim().split("\n")).toEqual(entryPoints().map((entryPoint) => `${entryPoint} true`));
  });

  test.each([
    // The native compiler checks the declaration files: it takes a sixth of the time of the other.
    ["typescript-native", "NodeNext", "NodeNext", ["program.mts", "program.cts"], "--skipDefaultLibCheck"],
    ["typescript", "ESNext", "Bundler", ["program.ts"], "--skipLibCheck"],
  ])(
    "the client's types hold in %s under module %s with resolution %s in %s",
    async (compiler, module, resolution, files, unchecked) => {
      const program = `import { SandboxClient, type ExecutionResult } from "cloud-sandbox";
import { openTelemetry } from "cloud-sandbox/opentelemetry";
import { TestingService } from "cloud-sandbox/testing";
export async function answer(client: SandboxClient): Promise<number> {
  const run: ExecutionResult = await client.executeIsolated("print(42)");
  // @ts-expect-error the exit code is a number
  const wrong: string = run.exitCode;
  const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path: { id: wrong } } });
  return run.exitCode + (data?.timeout_seconds ?? 0);
}
export async function disposed(): Promise<string> {
  await using client = new SandboxClient({ tracing: openTelemetry() });
  await using sandbox = await client.sandboxes.create();
  return (await sandbox.execute("1")).stdout;
}
export async function closed(): Promise<Uint8Array> {
  const client = new SandboxClient(new TestingService().clientOptions);
  const sandbox = await client.sandboxes.create();
  try {
    return await sandbox.files.readBytes("/workspace/a");
  } finally {
    await sandbox.delete();
    await client.close();
  }
}\n`;
      for (const file of files) await writeFile(join(project, file), program);
      await run(
        process.execPath,
        [
          join(workspace, "node_modules", compiler, "bin/tsc"),
          ...[
            "--noEmit",
            unchecked,
            "--strict",
            "--exactOptionalPropertyTypes",
            "--target",
            "ES2022",
            "--lib",
            "ES2023,ESNext.Disposable,DOM",
          ],
          ...["--module", module, "--moduleResolution", resolution],
          ...["--typeRoots", join(workspace, "node_modules/@types"), "--types", "node", ...files],
        ],
        { cwd: project },
      ).catch((error: { stdout: string }) => expect.fail(error.stdout));
    },
  );
});
