import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Script } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { processesWith } from "../support/processes.js";
import { publicKey, signToken } from "../support/tokens.js";

const run = promisify(execFile);
const built = fileURLToPath(new URL("../../dist", import.meta.url));

/** A directory that contains only the built agent, as in a sandbox. */
let home: string;
let program: string;
let socket: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  if (!existsSync(built)) throw new Error("packages/agent/dist is missing: build the package first.");
  home = await mkdtemp(join(tmpdir(), "agent-main-"));
  program = join(home, "agent", "main.cjs");
  socket = join(home, "agent.sock");
  await cp(built, join(home, "agent"), { recursive: true });
  for (const name of ["workspace", "tmp"]) await mkdir(join(home, name));
});
afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }
  // Try several times: processes that the agent started may still write to this directory.
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

const config = async (more: object = {}) =>
  JSON.stringify({
    sandboxId: "s",
    publicKey: await publicKey(),
    listen: { socket },
    roots: [join(home, "workspace"), join(home, "tmp")],
    ...more,
  });

async function call(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const token = await signToken({ sub: "s" });
  const outgoing = request({
    socketPath: socket,
    agent: false,
    method: body ? "POST" : "GET",
    path,
    headers: { authorization: `Bearer ${token}` },
  });
  outgoing.end(body && JSON.stringify(body));
  const [incoming] = await once(outgoing, "response");
  return {
    status: incoming.statusCode,
    body: JSON.parse(Buffer.concat(await incoming.toArray()).toString()),
  };
}

const isUp = () =>
  call("/health").then(
    ({ body }) => body.status === "healthy",
    () => false,
  );

function start(
  command: string,
  args: readonly string[],
  options: Parameters<typeof spawn>[2] = {},
): ChildProcess {
  child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  return child;
}

test("the bundle is one file that runs alone, configured by its environment, which programs do not see", async () => {
  start(process.execPath, [program], {
    env: { PATH: process.env.PATH, CLOUD_SANDBOX_AGENT_CONFIG: await config() },
  });
  await eventually("it answers", isUp);
  const { body } = await call("/execute", {
    language: "bash",
    code: 'echo "[$CLOUD_SANDBOX_AGENT_CONFIG]"',
  });
  expect(body.stdout).toBe("[]\n");
});

test("the bundle runs with its code cache as before, and leaves no file of it", async () => {
  const rehearsal = await mkdtemp(join(home, "rehearsal-"));
  const { stdout } = await run(process.execPath, [program, "--compile", rehearsal], {
    encoding: "buffer",
    maxBuffer: 2 ** 24,
  });
  expect(await readdir(rehearsal)).toEqual([]);
  const file = join(home, "agent", "program.cjs");
  const script = new Script(await readFile(file, "utf8"), { filename: file, cachedData: stdout });
  expect(script.cachedDataRejected).toBe(false);
  await writeFile(join(home, "agent", "program.cache"), stdout);
  start(process.execPath, [program, "--config", await config()]);
  await eventually("it answers", isUp);
});

test("a code cache of another version does not keep it from starting", async () => {
  await writeFile(join(home, "agent", "program.cache"), Buffer.alloc(1024, "another V8's"));
  start(process.execPath, [program, "--config", await config()]);
  await eventually("it answers", isUp);
});

test("the agent serves a socket that was handed to it", async () => {
  const listener = createServer().listen(`${socket}.new`);
  await once(listener, "listening");
  await rename(`${socket}.new`, socket);
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle;
  start(process.execPath, [program, "--config", await config({ listen: { fd: 3 } })], {
    stdio: ["ignore", "pipe", "pipe", fd],
  });
  listener.close();
  await eventually("it answers", isUp);
  const { body } = await call("/execute", {
    language: "bash",
    code: "ls -l /proc/self/fd/3 2>&1 | grep -c socket",
  });
  expect(body.stdout).toBe("0\n");
});

test.for([
  ["", "/execute", "nothing", []],
  [
    " in the background",
    "/execute/background",
    "only what the next one takes over",
    [".cloud-sandbox-state"],
  ],
] as const)("SIGTERM ends it, with all that runs%s in it by %s, and leaves %s", async ([, path, , left]) => {
  const tag = `tag-${randomUUID()}`;
  const agent = start(process.execPath, [program, "--config", await config({ outputLimit: 1024 })]);
  await eventually("it answers", isUp);
  const running = call(path, {
    language: "bash",
    code: "setsid sleep 60 & yes",
    env: { TAG: tag },
  });
  running.catch(() => undefined);
  await eventually("the program runs", () => processesWith(tag).length >= 3);
  agent.kill("SIGTERM");
  expect(await once(agent, "exit")).toEqual([0, null]);
  expect(processesWith(tag)).toEqual([]);
  expect(existsSync(socket)).toBe(false);
  expect(await readdir(join(home, "tmp"))).toEqual(left);
});

test.for([
  ["nothing", undefined, /CLOUD_SANDBOX_AGENT_CONFIG/],
  ["no JSON", "{", /not valid JSON/],
  ["no sandbox", "{}", /sandboxId/],
  ["no key", '{"sandboxId":"s"}', /publicKey/],
  ["no address", '{"sandboxId":"s","publicKey":"k"}', /listen/],
] as const)(
  "with %s as its configuration the agent ends with one line that says so",
  async ([, text, message]) => {
    const agent = start(process.execPath, [program], {
      env: { PATH: process.env.PATH, CLOUD_SANDBOX_AGENT_CONFIG: text },
    });
    const output = agent.stderr?.toArray();
    expect(await once(agent, "exit")).toEqual([1, null]);
    const lines = Buffer.concat((await output) ?? []).toString();
    expect(lines).toMatch(message);
    expect(lines.trim().split("\n")).toHaveLength(1);
  },
);

describe("as an ordinary user with few processes", () => {
  /**
   * A uid for each test and each run, because the kernel limits the processes of a user, including zombies of earlier
   * tests.
   */
  let uid = 100_000 + (process.pid % 100_000) * 10;

  beforeEach(async ({ skip }) => {
    skip(process.getuid?.() !== 0, "only root can become another user");
    uid += 1;
    await chmod(home, 0o755);
    for (const path of [home, program, join(home, "workspace"), join(home, "tmp")])
      await chown(path, uid, uid);
    start("prlimit", ["--nproc=30", process.execPath, program, "--config", await config()], {
      uid,
      gid: uid,
    });
    await eventually("it answers", isUp);
  });

  test("a program that takes all of them neither stops the agent nor outlives its time", async () => {
    const tag = `tag-${randomUUID()}`;
    const code = "import os, time\nwhile True:\n  try:\n    os.fork()\n  except OSError: time.sleep(0.1)";
    const bomb = call("/commands/run", {
      command: "python3",
      args: ["-c", code],
      env: { TAG: tag },
      timeout: 10,
    });
    await eventually("it has taken many", () => processesWith(tag).length > 10);
    await eventually("no other program can be started", async () => {
      const { status, body } = await call("/execute", { language: "bash", code: "true" });
      return status === 429 && body.code === "RESOURCE_EXHAUSTED";
    });
    expect(await isUp()).toBe(true);
    expect((await bomb).body).toMatchObject({ exit_code: 124, termination_reason: "timeout" });
    expect(processesWith(tag)).toEqual([]);
    // Try again: the kernel counts a process a moment longer than it runs.
    await eventually("programs start again", async () => {
      const { body } = await call("/execute", { language: "bash", code: "echo 1" });
      return body.stdout === "1\n";
    });
  }, 60_000);

  test("programs are the kernel's first choice when memory runs out", async () => {
    // The agent sets the value when it has started the program, so wait for it inside the program.
    const { body } = await call("/execute", {
      language: "bash",
      code: "for turn in $(seq 100); do [ $(< /proc/$$/oom_score_adj) = 800 ] && break; sleep 0.1; done; cat /proc/self/oom_score_adj",
    });
    expect(body).toMatchObject({ stdout: "800\n" });
    expect(await readFile(`/proc/${child?.pid}/oom_score_adj`, "utf8")).not.toBe("800\n");
  });
});
