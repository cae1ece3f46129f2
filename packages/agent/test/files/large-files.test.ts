import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { boundary, file, fileCalls, multipart } from "../support/file-calls.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(agent.workspace, { recursive: true, force: true, maxRetries: 20, retryDelay: 5 });
  await mkdir(agent.workspace);
});

const { list, query, read } = fileCalls(() => agent);

describe("a large file", () => {
  test("is read as it is, in pieces", async () => {
    // Characters of several bytes, and characters that JSON escapes: some of them lie across the border of two chunks.
    const line = `"\u{1f600}\u2028\\\\\t\u0001${"x".repeat(50)}\n`;
    const text = line.repeat(200_000);
    await writeFile(join(agent.workspace, "large"), text);
    const { status, headers, body } = await read("large");
    expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: "application/json" });
    expect(body.path).toBe(join(agent.workspace, "large"));
    expect(body.size).toBe(Buffer.byteLength(text));
    expect(body.content === text).toBe(true);
    await writeFile(join(agent.workspace, "bytes"), Buffer.alloc(1024 * 1024 + 1, 0xff));
    expect((await read("bytes")).body.content).toBe("\ufffd".repeat(1024 * 1024 + 1));
  });

  test("is not read as text when it is too large, and the refusal names the operation for it", async () => {
    // The second file is shorter, but each of its control characters takes six bytes in JSON.
    for (const bytes of [Buffer.alloc(64 * 1024 * 1024 + 1, "x"), Buffer.alloc(12 * 1024 * 1024, 1)]) {
      await writeFile(join(agent.workspace, "large"), bytes);
      const { status, body } = await read("large");
      expect({ status, code: body.code }).toEqual({ status: 413, code: "FILE_TOO_LARGE" });
      expect(body.message).toContain("/files/download");
    }
  });

  test("takes little memory, both ways", async () => {
    const size = 300 * 1024 * 1024;
    await writeFile(join(agent.workspace, "large"), "");
    await truncate(join(agent.workspace, "large"), size);
    const before = process.memoryUsage().rss;
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    const received = await countBytes("large");
    const sent = await sendBytes("copy", size);
    clearInterval(watching);
    expect(received).toBe(size);
    expect(sent.size).toBe(size);
    expect((await stat(join(agent.workspace, "copy"))).size).toBe(size);
    expect(most - before).toBeLessThan(150 * 1024 * 1024);
  }, 120_000);
});

test("a large directory is listed in part", async () => {
  execFileSync("sh", ["-c", "seq 10050 | xargs touch"], { cwd: agent.workspace });
  const { body } = await list(agent.workspace);
  expect(body).toMatchObject({ count: 10_000, total: 10_050, truncated: true });
});

function countBytes(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      socketPath: agent.socket,
      path: `/files/download?${query(path)}`,
      headers: { authorization: `Bearer ${agent.token}` },
    };
    request(options, (response) => {
      let total = 0;
      response.on("data", (chunk: Buffer) => {
        total += chunk.length;
      });
      response.on("end", () => resolve(total));
    })
      .on("error", reject)
      .end();
  });
}

async function sendBytes(path: string, size: number): Promise<{ size: number }> {
  const [start = Buffer.alloc(0)] = [file("copy", "")];
  const head = start.subarray(0, start.length - 2);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const outgoing = request({
    socketPath: agent.socket,
    method: "POST",
    path: `/files/upload?${query(path)}`,
    headers: {
      ...multipart,
      authorization: `Bearer ${agent.token}`,
      "content-length": head.length + size + tail.length,
    },
  });
  const responded = once(outgoing, "response");
  outgoing.write(head);
  const chunk = Buffer.alloc(1024 * 1024);
  for (let sent = 0; sent < size; sent += chunk.length)
    if (!outgoing.write(chunk)) await once(outgoing, "drain");
  outgoing.end(tail);
  const [response] = await responded;
  return JSON.parse(Buffer.concat(await response.toArray()).toString());
}
