import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient, Template, TemplateBuildError } from "cloud-sandbox";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
/** The requests that the client has sent, as `METHOD /path`. */
let sent: string[] = [];
let context: string;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({
    apiKey: server.apiKey,
    baseUrl: server.url,
    hooks: { onRequest: ({ method, path }) => void sent.push(`${method} ${path}`) },
  });
});
beforeEach(async () => {
  sent = [];
  context = await mkdtemp(join(tmpdir(), "client-context-"));
  await mkdir(join(context, "app", "empty"), { recursive: true });
  await writeFile(join(context, "app", "server.py"), "print('built')\n");
  await writeFile(join(context, "app", "run"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
  await symlink("server.py", join(context, "app", "link.py"));
  return () => rm(context, { recursive: true, force: true });
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

const hashes = (): (string | undefined)[] =>
  sent.flatMap((request) => /PUT \/v1\/templates\/files\/(\w+)/.exec(request)?.[1] ?? []);

async function hashOf(): Promise<string | undefined> {
  sent = [];
  const template = Template.from("base").copy("app", "/workspace/app").run("exit 1");
  await client.templates.build(template, { name: "hashed", context }).catch((error: unknown) => {
    if (!(error instanceof TemplateBuildError)) throw error;
  });
  return hashes()[0];
}

describe("a template", () => {
  test("is built from a definition, with files of this machine, and is there at once", async () => {
    const template = Template.from("base")
      .env({ STAGE: "test" })
      .workdir("/workspace")
      .copy("app", "/workspace/app", { exclude: (name) => name.endsWith("/server.py") })
      .copy(["app/server.py", "app/run"], "/workspace/more/", { permissions: "0755" })
      .run("echo $STAGE > made.txt")
      .startCommand("touch /tmp/started; sleep infinity", { file: "/tmp/started", timeoutSeconds: 20 });
    const lines: string[] = [];
    const progress: (number | undefined)[] = [];
    const built = await client.templates.build(template, {
      name: "client-built",
      context,
      cpu: 1,
      memoryMb: 512,
      diskGb: 1,
      onLog: (line) => lines.push(line),
      onProgress: ({ percent }) => progress.push(percent),
    });
    expect(built).toMatchObject({ name: "client-built", status: "active", isActive: true });
    expect(lines.join("\n")).toMatch(/Step 4\/5: COPY .*\nStep 5\/5: RUN/);
    expect(progress.length).toBeGreaterThan(1);
    await using sandbox = await client.sandboxes.create({ template: "client-built" });
    const { stdout } = await sandbox.commands.run(
      "cat made.txt; (cd app && find . | sort | xargs); readlink app/link.py; app/run; stat -c %a more/server.py; ls /tmp/started",
    );
    expect(stdout).toBe("test\n. ./empty ./link.py ./run\nserver.py\nran\n755\n/tmp/started\n");

    const found: string[] = [];
    for await (const { name } of client.templates.list({ text: "CLIENT-b" })) found.push(name);
    expect(found).toEqual(["client-built"]);
    await expect(client.templates.build(template, { name: "client-built", context })).rejects.toMatchObject({
      name: "ConflictError",
    });
    const other = Template.from("base").run("true");
    await client.templates.build(other, { name: "client-built", update: true });
    await client.templates.delete("client-built");
    await client.templates.build(other, { name: "client-built", update: true });
    await client.templates.delete("client-built");
    await client.templates.delete("client-built");
    await expect(client.templates.get("client-built")).rejects.toMatchObject({ status: 404 });
  });

  test("whose step fails is an error with what that step wrote", async () => {
    const template = Template.from("base").run("echo well").run("echo broken >&2; exit 3");
    const failure = await client.templates
      .build(template, { name: "failing" })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TemplateBuildError);
    expect(failure).toMatchObject({
      code: "BUILD_FAILED",
      log: expect.stringMatching(/^Step 2\/2.*\nbroken/),
    });
    expect((failure as TemplateBuildError).log).not.toContain("well");
    expect((failure as TemplateBuildError).message).toContain("broken");
  });

  test.each([
    ["its deadline", () => ({ timeoutSeconds: 0.5 }), { name: "TimeoutError" }],
    ["its signal", () => ({ signal: AbortSignal.timeout(500) }), { name: "AbortError" }],
  ])("is waited for until %s", async (what, options, expected) => {
    const template = Template.from("base").run("sleep 5");
    const build = client.templates.build(template, { name: what.replace(" ", "-"), ...options() });
    await expect(build).rejects.toMatchObject(expected);
  });

  test("has files whose hash changes with their content, name and mode, and with nothing else", async () => {
    const file = join(context, "app", "server.py");
    const first = await hashOf();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    await utimes(file, new Date(0), new Date(1e12));
    expect(await hashOf()).toBe(first);
    const changes = [
      () => writeFile(file, "print('BUILT')\n"),
      () => chmod(file, 0o755),
      () => chmod(join(context, "app", "empty"), 0o700),
      () => writeFile(join(context, "app", "another.py"), ""),
      () => mkdir(join(context, "app", "directory")),
    ];
    const seen = new Set([first]);
    for (const change of changes) {
      await change();
      seen.add(await hashOf());
    }
    expect(seen.size).toBe(1 + changes.length);
  });

  test.each<[string, () => Promise<unknown> | Template]>([
    ["no name", () => client.templates.build(Template.from("base"), { name: " " })],
    ["no base", () => Template.from("")],
    [
      "a file that is not there",
      () => client.templates.build(Template.from("base").copy("absent", "/a"), { name: "a", context }),
    ],
    [
      "a file out of the context",
      () => client.templates.build(Template.from("base").copy("../a", "/a"), { name: "a", context }),
    ],
    ["a pattern", () => Template.from("base").copy("*.py", "/a")],
    ["little memory", () => client.templates.build(Template.from("base"), { name: "a", memoryMb: 5 })],
    ["two checks", () => Template.from("base").startCommand("a", { port: 1, file: "/a" })],
    ["no check", () => Template.from("base").startCommand("a", {})],
    ["a port that is none", () => Template.from("base").startCommand("a", { port: 70_000 })],
    ["a name that is none", () => Template.from("base").env({ "A-B": "1" })],
  ])("with %s is refused before anything is sent", async (_, attempt) => {
    await expect((async () => attempt())()).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID_ARGUMENT|LOCAL_FILE_FAILED/),
    });
    expect(sent).toEqual([]);
  });
});
