import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ended, outputOf, readThrough, startCode, startCommand } from "../support/background.js";
import { eventually } from "../support/eventually.js";
import { RunningAgent } from "../support/running-agent.js";

/** Bytes of each output that the agent keeps in memory, and bytes that it keeps in a file. */
const limit = 4096;
const fileLimit = 256 * 1024;

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start({ outputLimit: limit, outputFileLimit: fileLimit });
});
afterAll(() => agent[Symbol.asyncDispose]());

/** `count` bytes of text. Each line has eight bytes, and is the position of its first byte. */
const numbered = (count: number) =>
  Array.from({ length: count / 8 }, (_, index) => `${String(index * 8).padStart(7, "0")}\n`).join("");
const writeNumbered = (count: number) => `seq -f %07.0f 0 8 ${count - 8}`;

/** The files in which the agent keeps stdout that did not fit in memory. */
const outputFiles = ({ temporary } = agent) =>
  readdirSync(temporary)
    .filter((name) => name.startsWith(".cloud-sandbox-"))
    .flatMap((name) => readdirSync(join(temporary, name)).map((file) => join(temporary, name, file)))
    .filter((path) => path.endsWith(".stdout"));

describe("a job's output", () => {
  test("can be read while the job runs, and further reads continue where the last one ended", async () => {
    const gate = join(agent.workspace, "gate");
    const job = await startCommand(
      agent,
      `echo one; echo oops >&2; until [ -e ${gate} ]; do sleep 0.02; done; echo two`,
    );
    await eventually("it has written", async () => (await outputOf(agent, job)).stdout_bytes === 4);
    const first = await outputOf(agent, job);
    expect(first).toMatchObject({ status: "running", stdout: "one\n", stdout_offset: 4, complete: false });
    expect(first).not.toHaveProperty("exit_code");
    writeFileSync(gate, "");
    await ended(agent, job);
    const offsets = { stdout_offset: first.stdout_offset, stderr_offset: 0 };
    expect(await outputOf(agent, job, offsets)).toMatchObject({
      process_id: job.process_id,
      execution_id: job.execution_id,
      status: "completed",
      exit_code: 0,
      termination_reason: "exit",
      stdout: "two\n",
      stdout_start: 4,
      stdout_offset: 8,
      stdout_bytes: 8,
      stderr: "oops\n",
      stderr_offset: 5,
      complete: true,
    });
  });

  test.for([
    ["that fits in memory", limit],
    ["that is one piece too long for it", limit + 8],
    ["that fits in its file", fileLimit],
  ] as const)("%s is whole after the end, in pieces of any size", async ([, length]) => {
    const job = await startCommand(agent, `${writeNumbered(length)}; echo last >&2`);
    await ended(agent, job);
    for (const size of [1000, 65_536, 1_048_576]) {
      const { stdout, stderr, pieces } = await readThrough(agent, job, size);
      expect(stdout === numbered(length)).toBe(true);
      expect(stderr).toBe("last\n");
      expect(Math.max(...pieces.map((piece) => piece.stdout.length))).toBeLessThanOrEqual(size);
    }
  });

  test("that is being written is read without loss or repetition", async () => {
    const length = 128 * 1024;
    const gate = join(agent.workspace, "read");
    const job = await startCode(
      agent,
      `import os, time
for i in range(0, ${length}, 8):
  print("%07d" % i)
  if i % 4096 == 0: time.sleep(0.01)
  while i == 8192 and not os.path.exists("${gate}"): time.sleep(0.01)`,
    );
    const { stdout, pieces } = await readThrough(agent, job, 3000, () => writeFileSync(gate, ""));
    expect(pieces[0]?.status).toBe("running");
    expect(stdout === numbered(length)).toBe(true);
  });

  test("beyond the limit of its file says where bytes are missing, and includes the end", async () => {
    const length = fileLimit * 2;
    const full = numbered(length);
    const job = await startCommand(agent, writeNumbered(length));
    await ended(agent, job);
    const { pieces } = await readThrough(agent, job, 65_536);
    expect(pieces.at(-1)).toMatchObject({ stdout_offset: length, stdout_bytes: length, complete: true });
    for (const { stdout, stdout_start, stdout_offset } of pieces)
      expect(stdout === full.slice(stdout_start, stdout_offset)).toBe(true);
    const gaps = pieces.filter(
      ({ stdout_start }, index) => stdout_start !== (pieces[index - 1]?.stdout_offset ?? 0),
    );
    expect(gaps).toMatchObject([{ stdout_start: length - limit / 2 }]);
  });

  test("is cut between characters, and bytes that are no text are passed on", async () => {
    const text = "a€😀é".repeat(2000);
    const whole = await startCode(agent, `print(${JSON.stringify("a€😀é")} * 2000, end="")`);
    await ended(agent, whole);
    for (const size of [16, 1001]) expect((await readThrough(agent, whole, size)).stdout).toBe(text);
    const broken = await startCommand(agent, "printf 'a\\377b\\303'; sleep 0.1; printf '\\251\\303'");
    expect((await readThrough(agent, broken, 16)).stdout).toBe("a\uFFFDbé\uFFFD");
  });

  test("of a job that was killed is kept", async () => {
    const job = await startCommand(agent, "echo before; sleep 60");
    await eventually("it has written", async () => (await outputOf(agent, job)).stdout_bytes === 7);
    await agent.call("POST", `/execute/kill/${job.process_id}`);
    expect(await outputOf(agent, job)).toMatchObject({
      status: "killed",
      stdout: "before\n",
      complete: true,
    });
  });

  test("without end fills neither memory nor the disk", async () => {
    const job = await startCommand(agent, "yes", { args: [] });
    await eventually("it has written much", async () => {
      expect((await agent.call("GET", "/health")).status).toBe(200);
      return (await outputOf(agent, job)).stdout_bytes > 100 * 1024 * 1024;
    });
    await agent.call("POST", `/execute/kill/${job.process_id}`);
    const [file = ""] = outputFiles().filter((path) => path.includes(job.execution_id ?? ""));
    expect(readFileSync(file).length).toBe(fileLimit);
  });

  test.for([
    ["removed", () => undefined],
    ["made a link", (path: string) => symlinkSync("/etc/passwd", path)],
    ["made a directory", (path: string) => mkdirSync(path)],
    ["emptied", (path: string) => writeFileSync(path, "")],
  ] as const)("is read from memory when its file was %s", async ([, spoil]) => {
    const length = limit * 4;
    const full = numbered(length);
    const job = await startCommand(agent, writeNumbered(length));
    await ended(agent, job);
    const [file = ""] = outputFiles().filter((path) => path.includes(job.execution_id ?? ""));
    rmSync(file);
    spoil(file);
    const { stdout, pieces } = await readThrough(agent, job, 65_536);
    expect(stdout).toBe(full.slice(0, limit / 2) + full.slice(-limit / 2));
    expect(pieces.at(-1)).toMatchObject({ stdout_start: length - limit / 2, complete: true });
  });

  test("is in a bounded number of files, of which none is removed while it is written", async () => {
    await using other = await RunningAgent.start({ outputLimit: limit });
    const gate = join(other.workspace, "gate");
    const once = numbered(limit * 2);
    const write = writeNumbered(once.length);
    const waiting = `${write}; until [ -e ${gate} ]; do sleep 0.02; done; ${write}`;
    const running = await startCommand(other, waiting);
    await eventually(
      "it has written",
      async () => (await outputOf(other, running)).stdout_bytes === once.length,
    );
    for (let turn = 0; turn < 20; turn += 1) {
      const job = await startCommand(other, write);
      await ended(other, job);
      expect((await readThrough(other, job, 65_536)).stdout === once).toBe(true);
    }
    expect(outputFiles(other)).toHaveLength(16);
    writeFileSync(gate, "");
    expect((await readThrough(other, running, 65_536)).stdout === once.repeat(2)).toBe(true);
  });

  test("goes on when its old files cannot be removed", async () => {
    await using other = await RunningAgent.start({ outputLimit: limit });
    const full = numbered(limit * 2);
    for (let turn = 0; turn < 18; turn += 1) {
      const job = await startCommand(other, writeNumbered(full.length));
      await ended(other, job);
      expect((await readThrough(other, job, 65_536)).stdout === full).toBe(true);
      for (const file of turn === 0 ? outputFiles(other) : []) {
        rmSync(file);
        mkdirSync(file);
      }
    }
  });

  test.for([
    ["stdout_offset=-1", /stdout_offset/],
    ["stderr_offset=x", /stderr_offset/],
    ["limit=0", /limit/],
    ["limit=2000000", /limit/],
  ] as const)("cannot be read with %s", async ([query, message]) => {
    const job = await startCommand(agent, "true");
    const { status, body } = await agent.call("GET", `/execute/processes/${job.process_id}/output?${query}`);
    expect(status).toBe(400);
    expect(body.message).toMatch(message);
  });

  test("is empty beyond its end", async () => {
    const job = await startCommand(agent, "echo 1");
    await ended(agent, job);
    expect(await outputOf(agent, job, { stdout_offset: 1e9 })).toMatchObject({ stdout: "", stdout_bytes: 2 });
  });

  test("is not found for a job that never existed", async () => {
    const { status, body } = await agent.call("GET", "/execute/processes/cmd_0/output");
    expect({ status, code: body.code }).toEqual({ status: 404, code: "PROCESS_NOT_FOUND" });
  });
});
