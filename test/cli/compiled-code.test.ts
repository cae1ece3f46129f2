import { isAscii } from "node:buffer";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { root } from "../support/documents/code-blocks.js";
import { startLocalServer } from "../support/local-server.js";

test("a version that starts for the first time removes compiled code that was not written for a month", async () => {
  const { version } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8"));
  const caches = await mkdtemp(join(tmpdir(), "caches-"));
  try {
    const compiled = join(caches, "cloud-sandbox", "compiled");
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
    for (const [name, days] of [
      ["0.0.1", 31],
      ["0.0.2", 29],
    ] as const) {
      await mkdir(join(compiled, name, "of-node"), { recursive: true });
      await utimes(join(compiled, name), daysAgo(days), daysAgo(days));
    }
    const { code } = await runBuilt("cli", ["completion", "bash"], { env: { XDG_CACHE_HOME: caches } });
    expect(code).toBe(0);
    expect((await readdir(compiled)).sort()).toEqual(["0.0.2", version]);
    expect(await readdir(join(compiled, version))).not.toEqual([]);
  } finally {
    await rm(caches, { recursive: true });
  }
});

test.for<[string, (caches: string) => Promise<void>]>([
  ["belongs to another user", (caches) => chown(caches, 54_321, 54_321)],
  ["others can write to", (caches) => chmod(caches, 0o777)],
])("no compiled code is stored in a directory that %s", async ([whose, spoil], { skip }) => {
  skip(whose === "belongs to another user" && process.getuid?.() !== 0, "this test was not started by root");
  const caches = await mkdtemp(join(tmpdir(), "caches-"));
  try {
    await spoil(caches);
    const { code } = await runBuilt("cli", ["completion", "bash"], { env: { XDG_CACHE_HOME: caches } });
    expect(code).toBe(0);
    expect(await readdir(caches)).toEqual([]);
  } finally {
    await rm(caches, { recursive: true });
  }
});

test("a command uses all compiled code of the one before, also what it loads after its first request", async () => {
  const caches = await mkdtemp(join(tmpdir(), "caches-"));
  const server = await startLocalServer({ args: ["--pool", "0"] });
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  /** The stored files. Node.js replaces a file if it could not use the compiled code in it. */
  const stored = async (): Promise<string[]> => {
    const names = await readdir(caches, { recursive: true });
    const files = await Promise.all(
      names.map(async (name) => ({ name, status: await stat(join(caches, name)) })),
    );
    return files.filter(({ status }) => status.isFile()).map(({ name, status }) => `${name} ${status.ino}`);
  };
  try {
    const { id } = await client.sandboxes.create();
    const env = {
      XDG_CACHE_HOME: caches,
      CLOUD_SANDBOX_API_KEY: server.apiKey,
      CLOUD_SANDBOX_BASE_URL: server.url,
    };
    // This command loads the code of WebSockets after its first request.
    const words = ["sandbox", "exec", id, "echo", "ran"];
    expect(await runBuilt("cli", words, { env })).toMatchObject({ stdout: "ran\n" });
    const before = await stored();
    expect(await runBuilt("cli", words, { env })).toMatchObject({ stdout: "ran\n" });
    expect(await stored()).toEqual(before);
    expect(before).not.toEqual([]);
  } finally {
    await client.close();
    await server.stop();
    await rm(caches, { recursive: true });
  }
});

test.each(["cli", "local", "mcp"])(
  "the built files of %s are ASCII, which V8 reads fastest",
  async (name) => {
    const dist = join(root, "packages", name, "dist");
    const files = (await readdir(dist)).filter((file) => file.endsWith(".js"));
    expect(files).not.toEqual([]);
    for (const file of files) expect(await readFile(join(dist, file)), file).toSatisfy(isAscii);
  },
);
