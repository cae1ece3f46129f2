import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { type CreateSandboxOptions, ResourceLimitError, SandboxClient, Template } from "cloud-sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { descendants } from "../support/host-processes.js";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";

async function start(
  args: readonly string[] = [],
  who: StartedBy = "root",
): Promise<{ server: LocalServer; client: SandboxClient }> {
  const server = await startLocalServer({ who, args: ["--pool", "0", ...args] });
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { server, client };
}

const base: CreateSandboxOptions = { template: "base" };
const slow = 300_000;

describe.each<StartedBy>(["root", "an ordinary user"])("a sandbox of a server of %s", (who) => {
  test(
    "differs from its template in what code did anywhere on its disk, and in nothing else",
    async ({ skip }) => {
      const obstacle = cannotStartAs(who);
      skip(obstacle !== undefined, obstacle);
      const { client } = await start([], who);
      await using sandbox = await client.sandboxes.create(base);
      await sandbox.execute("x = 1");
      await sandbox.executeBackground("sleep 600", { language: "bash" });
      expect(await sandbox.changes()).toEqual([]);
      await sandbox.commands.run(
        "echo x > /etc/made; echo x > ~/made; rm /usr/bin/tac; echo x > /usr/local/bin/made; chmod +x /usr/local/bin/made",
      );
      const changes = await sandbox.changes();
      expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
        "added /etc/made",
        "added /home/sandbox/made",
        "removed /usr/bin/tac",
        "added /usr/local/bin/made",
      ]);
      expect(changes[3]).toMatchObject({ executable: true, size: 2 });
    },
    slow,
  );
});

test(
  "a sandbox of a built template is compared with what that has, also in the workspace",
  async () => {
    const { client } = await start();
    const built = Template.from("base").run("echo a > /workspace/of-template; echo b > /opt/of-template");
    await client.templates.build(built, { name: "compared", cpu: 1, memoryMb: 512, diskGb: 1 });
    await using sandbox = await client.sandboxes.create({ template: "compared" });
    await sandbox.commands.run("cd /workspace; touch of-template; echo c > /opt/of-template");
    const changes = await sandbox.changes();
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(["changed /opt/of-template"]);
    expect((await sandbox.diff("/opt/of-template")).diff).toContain("-b\n+c\n");
  },
  slow,
);

test(
  "what is mounted is left out, and a path of it is refused",
  async () => {
    const place = await mkdtemp(join(tmpdir(), "compared-"));
    onTestFinished(() => rm(place, { recursive: true, force: true }));
    await chmod(place, 0o755);
    const { client } = await start(["--allow-mount", place]);
    await using sandbox = await client.sandboxes.create({
      ...base,
      mounts: {
        "/made/for/repo": { host: place, mode: "copy" },
        "/workspace/data": { host: place, readOnly: true },
      },
    });
    await sandbox.commands.run("echo x > /made/for/repo/file; echo x > /workspace/own");
    const since = "template";
    expect((await sandbox.changes({ since })).map(({ path }) => path)).toEqual(["/workspace/own"]);
    expect((await sandbox.changes()).map(({ path }) => path)).toEqual(["/made/for/repo/file"]);
    for (const path of ["/made/for/repo/file", "/workspace/data/file"])
      await expect(sandbox.diff(path, { since })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(sandbox.diff("/workspace/own", { since: "/made/for/repo" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
    expect((await sandbox.diff("/made/for/repo/file")).diff).toContain("+x\n");
  },
  slow,
);

test(
  "a comparison needs the memory and the slot of a sandbox, and gives them back",
  async () => {
    const { client } = await start(["--max-sandboxes", "2", "--memory-overcommit", "1"]);
    const limits = { memoryMb: Math.floor(totalmem() / 2 ** 20 / 3) };
    await using sandbox = await client.sandboxes.create({ ...base, limits });
    for (let round = 0; round < 3; round += 1) expect(await sandbox.changes()).toEqual([]);
    await using other = await client.sandboxes.create(base);
    await expect(sandbox.changes()).rejects.toThrow(ResourceLimitError);
    await other.delete();
    expect(await sandbox.diff("/etc/passwd")).toMatchObject({ diff: "" });
  },
  slow,
);

test(
  "a comparison ends with its caller, and with the server",
  async () => {
    const { client, server } = await start(["--max-sandboxes", "2"]);
    const sandbox = await client.sandboxes.create(base);
    const machines = (): number =>
      descendants(server.pid).filter(({ commandLine }) => commandLine.startsWith("bwrap")).length;
    const before = machines();
    // Its machine is being started.
    const hasBegun = () => expect.poll(machines, { interval: 5 }).toBeGreaterThan(before);
    const leaving = new AbortController();
    const left = sandbox.changes({ signal: leaving.signal }).catch((error: unknown) => error);
    await hasBegun();
    leaving.abort();
    expect(await left).toBeInstanceOf(Error);
    await expect.poll(machines).toBe(before);
    const second = (): Promise<unknown> => client.sandboxes.create(base).then((made) => made.delete());
    await expect.poll(() => second().then(() => "made", String)).toBe("made");
    const cut = sandbox.changes({ requestTimeoutSeconds: 60 }).catch((error: unknown) => error);
    await hasBegun();
    expect((await server.stop()).code).toBe(0);
    expect(await cut).toBeInstanceOf(Error);
  },
  slow,
);

test(
  "what code does to hide changes is told, but for a time that is set back",
  async () => {
    const { client } = await start();
    await using sandbox = await client.sandboxes.create(base);
    const run = async (command: string): Promise<void> => {
      const { exitCode, stderr } = await sandbox.commands.run(["bash", "-c", command]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    };
    await run("echo one > a; echo one > b; mkdir many; cd many; for i in {1..300}; do echo $i > $i; done");
    const snapshot = await sandbox.snapshot();
    await run(`
    touch -r a a.time -r b b.time
    echo two > a; touch -r a.time a; echo longer > b; touch -r b.time b; rm a.time b.time
    for i in {1..300}; do mkdir "$(printf 'x%.0s' {1..200})"; cd "$(printf 'x%.0s' {1..200})"; done`);
    await run("mkdir deep; cd deep; for i in {1..400}; do mkdir d; cd d; done; touch end");
    await run("cd many; for i in {1..300}; do rm $i; mkfifo $i; done");
    const changes = await sandbox.changes({ since: snapshot });
    const paths = changes.map(({ path }) => path);
    expect(paths).toContain("/workspace/b");
    expect(paths).not.toContain("/workspace/a");
    expect(paths).not.toContain("/workspace/a.time");
    const skipped = changes.filter((change) => change.skipped !== undefined);
    expect(skipped.map(({ skipped: count, path }) => [count, path.slice(0, 12)])).toEqual([
      [1, "/workspace/d"],
      [1, "/workspace/x"],
    ]);
    const ofMany = changes.filter(({ path }) => path.startsWith("/workspace/many/"));
    expect(ofMany).toHaveLength(300);
    expect(new Set(ofMany.map(({ kind, type }) => `${kind} ${type}`))).toEqual(new Set(["changed other"]));
  },
  slow,
);

test(
  "many files are compared, and more changes than are listed are refused",
  async () => {
    const { client } = await start();
    await using sandbox = await client.sandboxes.create(base);
    const make = (count: number, at: string): Promise<unknown> =>
      sandbox.commands.run(
        `python3 -c "
import os
for i in range(${count}):
    if i % 1000 == 0: os.makedirs('${at}/%d' % (i // 1000))
    open('${at}/%d/%d' % (i // 1000, i), 'w').write(str(i))"`,
        { timeoutSeconds: 120 },
      );
    await make(100_000, "old");
    await expect(sandbox.changes()).rejects.toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    const snapshot = await sandbox.snapshot();
    await sandbox.commands.run("echo x > old/7/7777; find old/8 -type f -exec touch {} +");
    const [change, ...others] = await sandbox.changes({ since: snapshot });
    expect(change).toMatchObject({ path: "/workspace/old/7/7777", kind: "changed", size: 2 });
    expect(others).toEqual([]);
  },
  slow,
);
