import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "./support/local-server.js";
import { npm, otherNode, scratchProject } from "./support/scratch-project.js";

const run = promisify(execFile);
const workspace = fileURLToPath(new URL("..", import.meta.url));
const packages = ["client", "local", "mcp", "cli"];

// What people get from the registry, in an empty project.
describe("packed and installed", { timeout: 120_000 }, () => {
  let project: string;
  let server: LocalServer;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "installed-"));
    const tarballs = join(project, "tarballs");
    for (const name of packages) {
      await run("npx", ["-y", "pnpm@10.34.9", "pack", "--pack-destination", tarballs], {
        cwd: join(workspace, "packages", name),
      });
    }
    await writeFile(join(project, "package.json"), '{ "private": true }\n');
    const files = (await readdir(tarballs)).map((name) => join(tarballs, name));
    await npm(project, ["install", ...files]);
    server = await startLocalServer({ args: ["--pool", "1"] });
  }, 300_000);

  afterAll(async () => {
    await server?.stop();
    if (project !== undefined) await rm(project, { recursive: true, force: true });
  });

  test.each(["cloud-sandbox-local", "cloud-sandbox-mcp"])(
    "%s brings the licences of what it bundles",
    async (name) => {
      const licences = await readFile(
        join(project, "node_modules", name, "dist", "THIRD-PARTY-LICENSES.txt"),
        "utf8",
      );
      // One that only the agent bundles, and one that only the client does.
      expect(licences).toContain(name === "cloud-sandbox-local" ? "@fastify/busboy" : "undici");
      expect(licences).toContain("Permission is hereby granted");
    },
  );

  const nodes = [
    ["the Node.js of these tests", async () => process.execPath],
    ["Node.js 24", () => otherNode("24.21.0")],
  ] as const;
  const programs = [
    ["import", "program.mjs", 'import { SandboxClient } from "cloud-sandbox";\n'],
    ["require", "program.cjs", 'const { SandboxClient } = require("cloud-sandbox");\n'],
  ] as const;

  describe.each(nodes)("on %s", (_, node) => {
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

  test.each([
    ["NodeNext", "NodeNext", "program.mts"],
    ["NodeNext", "NodeNext", "program.cts"],
    ["ESNext", "Bundler", "program.ts"],
  ])("the client's types hold under module %s with resolution %s in %s", async (module, resolution, file) => {
    const types = await scratchProject("types", ["typescript@5.9.3", "@types/node@20.19.43"]);
    await writeFile(
      join(project, file),
      `import { SandboxClient, type ExecutionResult } from "cloud-sandbox";
export async function answer(client: SandboxClient): Promise<number> {
  const run: ExecutionResult = await client.executeIsolated("print(42)");
  // @ts-expect-error the exit code is a number
  const wrong: string = run.exitCode;
  const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path: { id: wrong } } });
  return run.exitCode + (data?.timeout_seconds ?? 0);
}\n`,
    );
    await run(
      process.execPath,
      [
        join(types, "node_modules/typescript/bin/tsc"),
        ...[
          "--noEmit",
          "--strict",
          "--exactOptionalPropertyTypes",
          "--target",
          "ES2022",
          "--lib",
          "ES2023,ESNext.Disposable,DOM",
        ],
        ...["--module", module, "--moduleResolution", resolution],
        ...["--typeRoots", join(types, "node_modules/@types"), "--types", "node", file],
      ],
      { cwd: project },
    ).catch((error: { stdout: string }) => expect.fail(error.stdout));
  });
});
