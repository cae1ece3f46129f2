import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { hopx } from "../../packages/mcp/src/profiles/hopx/profile.js";
import { root } from "../support/documents/code-blocks.js";
import { serverJsonSchema } from "../support/documents/server-json-schema.js";

const run = promisify(execFile);
const home = join(root, "packages/mcp");
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const { name, mcpName, version } = json("packages/mcp/package.json");

describe("the registry's server.json", () => {
  const document = json("packages/mcp/server.json");
  const isValid = new Ajv({ allErrors: true }).compile(serverJsonSchema);

  test("is what the registry's schema demands", () => {
    expect([isValid(document), isValid.errors]).toEqual([true, null]);
  });

  test.each([
    ["a name without its namespace", { name: "cloud-sandbox" }],
    ["a description that is too long", { description: "x".repeat(101) }],
    ["a range as the version", { version: "^1.0.0" }],
    ["a package of no registry", { packages: [{ identifier: "x", transport: { type: "stdio" } }] }],
  ])("would not be valid with %s", (_, wrong) => {
    expect(isValid({ ...document, ...wrong })).toBe(false);
  });

  test("is about the package that says so itself, at its version, and its key is a secret", () => {
    expect(document).toMatchObject({ name: mcpName, version });
    expect(document.packages).toEqual([expect.objectContaining({ identifier: name, version })]);
    expect(document.packages[0].environmentVariables).toContainEqual(
      expect.objectContaining({ name: "CLOUD_SANDBOX_API_KEY", isSecret: true }),
    );
  });
});

describe("the bundle", () => {
  let directory: string;
  let unpacked: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "mcp-bundle-test-"));
    unpacked = join(directory, "unpacked");
    const bundle = join(directory, "cloud-sandbox.mcpb");
    await run(process.execPath, [join(root, "scripts/build-mcp-bundle.mjs"), bundle]);
    await run(join(root, "node_modules/.bin/mcpb"), ["unpack", bundle, unpacked]);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("keeps the key as a secret, and passes it by the environment alone", async () => {
    const manifest = json("packages/mcp/bundle/manifest.json");
    expect(manifest.user_config.api_key).toMatchObject({ sensitive: true, required: false });
    const started = await configuration({ api_key: "a-secret" });
    expect(JSON.stringify([started?.command, started?.args])).not.toContain("a-secret");
    expect(started?.env).toMatchObject({ CLOUD_SANDBOX_API_KEY: "a-secret" });
  });

  test("contains the licences of the packages in it", async () => {
    const licences = await Promise.all(
      ["server", "server/node_modules/cloud-sandbox-local/dist"].map((part) =>
        readFile(join(unpacked, part, "THIRD-PARTY-LICENSES.txt"), "utf8"),
      ),
    );
    expect(licences[0]).toContain("@modelcontextprotocol/server");
    expect(licences[1]).toContain("@fastify/busboy");
    expect(existsSync(join(unpacked, "LICENSE"))).toBe(true);
  });

  test("runs a program on this machine, as it is installed with no setting", async () => {
    const started = await configuration({});
    const client = new Client({ name: "bundle", version: "1.0.0" });
    const env = { ...getDefaultEnvironment(), ...started?.env };
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: started?.args ?? [],
        env,
        stderr: "ignore",
      }),
    );
    expect(client.getServerVersion()).toMatchObject({ version });
    const call = { name: "execute_code_isolated", arguments: { code: "print(6 * 7)" } };
    expect((await client.callTool(call)).structuredContent).toMatchObject({ stdout: "42\n" });
    await client.close();
  });

  function configuration(userConfig: Record<string, string>) {
    return getMcpConfigForManifest({
      manifest: json("packages/mcp/bundle/manifest.json"),
      extensionPath: unpacked,
      systemDirs: {},
      userConfig,
      pathSeparator: "/",
    });
  }
});

describe("the plugin", () => {
  const manifests = [
    ".claude-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
    "gemini-extension.json",
  ] as const;

  test.each(manifests)("%s is of this version, and names only what is there", (path) => {
    const manifest = json(`packages/mcp/plugin/${path}`);
    expect(manifest).toMatchObject({ name: "cloud-sandbox", version });
    for (const field of ["mcpServers", "skills", "contextFileName"]) {
      const named: unknown = manifest[field];
      if (typeof named === "string") expect(join(home, "plugin", named)).toSatisfy(existsSync);
    }
  });

  test.each([".mcp.json", "mcp.json", "gemini-extension.json"])("%s starts the installed command", (path) => {
    const { mcpServers } = json(`packages/mcp/plugin/${path}`);
    expect(mcpServers).toMatchObject({ "cloud-sandbox": { command: "npx", args: ["--no", name] } });
  });

  test.each([".claude-plugin", ".cursor-plugin"])("is in the marketplace of %s", (directory) => {
    const { plugins } = json(`${directory}/marketplace.json`);
    for (const { source } of plugins)
      expect(join(root, source, directory, "plugin.json")).toSatisfy(existsSync);
  });

  test("has a skill that is named as its directory and says when to use it", () => {
    const text = readFileSync(join(home, "plugin/skills/cloud-sandbox/SKILL.md"), "utf8");
    const head = parse(/^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "");
    expect(head).toEqual({ name: "cloud-sandbox", description: expect.stringMatching(/Use it to/) });
    expect(head.description.length).toBeLessThanOrEqual(1024);
  });

  test("has a skill that names the server's tools, and no other", () => {
    const text = readFileSync(join(home, "plugin/skills/cloud-sandbox/SKILL.md"), "utf8");
    const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word]) => word);
    const words = named.filter((word) => !["exit_code", "sandbox_id", "process_id"].includes(word ?? ""));
    expect(words.length).toBeGreaterThan(8);
    expect(hopx.tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(words));
  });
});
