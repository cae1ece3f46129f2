import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ByteWindow } from "@cloud-sandbox/server-kit/execution";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { isLive } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";

const limit = 64 * 1024;
const fileLimit = 1024 * 1024;

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start({ outputLimit: limit, outputFileLimit: fileLimit });
});
afterAll(() => agent[Symbol.asyncDispose]());

const cut = /^(.*)\n\[\.\.\. (\d+) bytes cut; (.*) \.\.\.\]\n(.*)$/s;

function parts(text: string) {
  const [, head = "", missing, where = "", tail = ""] = cut.exec(text) ?? [];
  return { head, missing: Number(missing), where, tail };
}

describe("output within the limit", () => {
  test("is whole, to the last byte", async () => {
    const { body } = await agent.execute({ code: `print("x" * ${limit - 1})` });
    expect(body.stdout).toBe(`${"x".repeat(limit - 1)}\n`);
    expect(body).toMatchObject({ stdout_bytes: limit, stdout_truncated: false });
    expect(body.stdout_file).toBeUndefined();
  });

  test("shows bytes that are no text as replacement characters", async () => {
    const { body } = await agent.run({ command: "printf 'a\\377b\\303'" });
    expect(body).toMatchObject({ stdout: "a\uFFFDb\uFFFD", stdout_bytes: 4 });
  });
});

describe("the standard output of Python", () => {
  test.for([
    ["is given another encoding", "import sys\nsys.stdout.reconfigure(encoding='utf-8')\nprint('é')"],
    [
      "is wrapped anew",
      "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('é')",
    ],
    ["is the one that it began with", "import sys\nprint('é', file=sys.__stdout__)"],
  ] as const)("%s", async ([, code]) => {
    const context = "encodings";
    const { body } = await agent.execute({ code, context });
    expect(body).toMatchObject({ exit_code: 0, stdout: "é\n", stderr: "" });
  });

  test("is a pipe, which has no places", async () => {
    const { body } = await agent.execute({
      code: "import sys; print(sys.stdout.seekable(), sys.stdout.name)",
    });
    expect(body.stdout).toBe("False <stdout>\n");
  });

  test("has what C code prints in the same execution", async () => {
    const code = "import ctypes\nlibc = ctypes.CDLL(None)\n_ = libc.printf(b'from C\\n')";
    expect((await agent.execute({ code, context: "c" })).body.stdout).toBe("from C\n");
    const later = await agent.execute({ code: "_ = libc.fflush(None)", context: "c" });
    expect(later.body.stdout).toBe("");
  });
});

describe("output beyond the limit", () => {
  test("keeps head and tail, says what is missing, and is whole in a file", async () => {
    const { body } = await agent.execute({
      code: 'for i in range(50000): print(i)\nimport sys\nprint("short", file=sys.stderr)',
    });
    const full = Array.from({ length: 50_000 }, (_, index) => `${index}\n`).join("");
    const { head, missing, where, tail } = parts(body.stdout);
    expect(body).toMatchObject({
      stdout_truncated: true,
      stdout_bytes: full.length,
      stderr: "short\n",
      stderr_truncated: false,
    });
    expect(full.startsWith(head) && full.endsWith(tail)).toBe(true);
    expect(head.length + missing + tail.length).toBe(full.length);
    expect(head.length + tail.length).toBe(limit);
    expect(where).toBe(`the full output is in ${body.stdout_file}`);
    expect(await readFile(body.stdout_file ?? "", "utf8")).toBe(full);
    const read = await agent.call("GET", `/files/read?path=${encodeURIComponent(body.stdout_file ?? "")}`);
    expect(read.body.content).toBe(full);
  });

  test("is cut between characters, not within them", async () => {
    for (const character of ["é", "€", "😀"]) {
      const { body } = await agent.execute({ code: `print("a" + "${character}" * 100000, end="")` });
      const { head, missing, tail } = parts(body.stdout);
      expect(`${head}${tail}`).not.toContain("\uFFFD");
      expect(Buffer.byteLength(head) + missing + Buffer.byteLength(tail)).toBe(body.stdout_bytes);
    }
  });

  test("beyond the limit of its file is kept up to that limit", async () => {
    const { body } = await agent.execute({ code: `print("x" * ${fileLimit * 3})` });
    expect(body.stdout_bytes).toBe(fileLimit * 3 + 1);
    expect(parts(body.stdout).where).toBe(`the first ${fileLimit} bytes are in ${body.stdout_file}`);
    expect((await stat(body.stdout_file ?? "")).size).toBe(fileLimit);
  });

  test("of 200 MiB neither fills memory nor keeps the agent from answering", async () => {
    const size = 200 * 1024 * 1024;
    const before = process.memoryUsage().rss;
    const running = agent.run({ command: `yes | head -c ${size}`, timeout: 80 });
    for (let turn = 0; turn < 20; turn += 1) expect((await agent.call("GET", "/health")).status).toBe(200);
    const { body } = await running;
    expect(body).toMatchObject({ exit_code: 0, stdout_truncated: true, stdout_bytes: size });
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  test("without end is ended by the time limit", async () => {
    const { body } = await agent.run({ command: "yes", args: [], timeout: 2 });
    expect(body).toMatchObject({ exit_code: 124, termination_reason: "timeout", stdout_truncated: true });
  });

  test("leaves only the latest files", async () => {
    const files: string[] = [];
    for (let turn = 0; turn < 18; turn += 1) {
      const { body } = await agent.run({ command: `head -c ${limit + 1} /dev/zero` });
      files.push(body.stdout_file ?? "");
    }
    const exist = await Promise.all(
      files.map((file) =>
        stat(file).then(
          () => true,
          () => false,
        ),
      ),
    );
    expect(exist).toEqual([false, false, ...Array.from({ length: 16 }, () => true)]);
  });
});

describe("a process left in the background", () => {
  test("does not delay the answer", async () => {
    const { body } = await agent.run({ command: "sleep 60 & echo $!" });
    expect(body).toMatchObject({ exit_code: 0, termination_reason: "exit" });
    expect(body.execution_time).toBeLessThan(25);
    const pid = Number(body.stdout);
    expect(isLive(pid)).toBe(true);
    process.kill(pid);
  });

  test("may go on writing", async () => {
    const [gate, proof] = [join(agent.workspace, "gate"), join(agent.workspace, "proof")];
    const { body } = await agent.run({
      command: `(trap '' PIPE; until [ -e ${gate} ]; do sleep 0.02; done; head -c 1000000 /dev/zero && echo fine > ${proof}) & echo started`,
    });
    expect(body.stdout).toBe("started\n");
    await writeFile(gate, "");
    await eventually("the background process has written all", () =>
      stat(proof).then(
        () => true,
        () => false,
      ),
    );
  });

  test("does not mix its output into a later answer", async () => {
    await agent.run({ command: "(sleep 0.2; echo late; echo late >&2) & exit 0" });
    const { body } = await agent.run({ command: "sleep 0.4; echo own" });
    expect(body).toMatchObject({ stdout: "own\n", stderr: "" });
  });
});

test("a window holds the first and the last bytes of whatever is pushed", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      fc.array(fc.uint8Array({ maxLength: 60 })),
      (size, chunks) => {
        const window = new ByteWindow(size);
        for (const chunk of chunks) window.push(Buffer.from(chunk));
        const all = Buffer.concat(chunks);
        const headSize = Math.min(all.length, Math.ceil(size / 2));
        const tailSize = Math.min(all.length - headSize, Math.floor(size / 2));
        expect(window.total).toBe(all.length);
        expect(window.overflowed).toBe(all.length > size);
        expect(window.head()).toEqual(all.subarray(0, headSize));
        expect(window.tail()).toEqual(all.subarray(all.length - tailSize));
      },
    ),
    { numRuns: 500 },
  );
});
