import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.js";
import { boundary, field, file, fileCalls, multipart } from "../support/file-calls.js";
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

const { download, query, upload, write } = fileCalls(() => agent);

describe("uploading", () => {
  test.for([
    ["the file first", () => upload([file("f.txt", "content"), field("path", "a/b/c.txt")]), "a/b/c.txt"],
    ["the path first", () => upload([field("path", "a/b/c.txt"), file("f.txt", "content")]), "a/b/c.txt"],
    ["the path in the query", () => upload([file("f.txt", "content")], "?path=a/c.txt"), "a/c.txt"],
    ["no path", () => upload([file("f.txt", "content")]), "f.txt"],
    ["a directory that exists", () => upload([file("f.txt", "content"), field("path", ".")]), "f.txt"],
    ["a directory to be", () => upload([file("f.txt", "content"), field("path", "new/")]), "new/f.txt"],
    ["a name that climbs", () => upload([file("../../f.txt", "content")]), "f.txt"],
    [
      "a place on another file system",
      () => upload([file("f.txt", "content"), field("path", `${agent.temporary}/f`)]),
      "../tmp/f",
    ],
  ] as const)("works with %s", async ([, send, place]) => {
    const { status, body } = await send();
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, path: join(agent.workspace, place), size: 7 });
    expect(await readFile(join(agent.workspace, place), "utf8")).toBe("content");
    expect((await readdir(agent.workspace)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test.for([
    ["without a file", () => upload([field("path", "x")]), "MISSING_PARAMETER"],
    ["that is no form", () => agent.call("POST", "/files/upload", Buffer.from("x")), "INVALID_REQUEST"],
    [
      "without a boundary",
      () =>
        agent.call("POST", "/files/upload", Buffer.from("x"), {
          headers: { "content-type": "multipart/form-data" },
        }),
      "INVALID_REQUEST",
    ],
    [
      "that ends in the middle",
      () => agent.call("POST", "/files/upload", file("f.txt", "con"), { headers: multipart }),
      "INVALID_REQUEST",
    ],
  ] as const)("an upload %s is refused", async ([, send, code]) => {
    const { status, body } = await send();
    expect({ status, code: body.code }).toEqual({ status: 400, code });
    expect(await readdir(agent.workspace)).toEqual([]);
  });

  test.for([
    ["ten thousand parts", () => Array.from({ length: 10_000 }, (_, index) => field(`f${index}`, "x"))],
    ["a hundred files", () => Array.from({ length: 100 }, () => file("f.txt", "content"))],
    ["a part's header of 10 MB", () => [file("f".repeat(10_000_000), "content")]],
    ["a field's name of 10 MB", () => [field("f".repeat(10_000_000), "x"), file("f.txt", "content")]],
    ["a field of 10 MB", () => [field("path", "f".repeat(10_000_000)), file("f.txt", "content")]],
    [
      "ten thousand headers in a part",
      () => [
        Buffer.from(`--${boundary}\r\n${"X-A: b\r\n".repeat(10_000)}\r\nx\r\n`),
        file("f.txt", "content"),
      ],
    ],
  ] as const)("an upload with %s does not disturb the agent", async ([, parts]) => {
    const before = process.memoryUsage().rss;
    const { status } = await upload([...parts()]);
    expect(status).toBeLessThan(500);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    expect((await readdir(agent.workspace)).filter((name) => name.startsWith("."))).toEqual([]);
    expect((await agent.call("GET", "/ping")).status).toBe(200);
  });

  test("a large file is refused as early as its path is known", async () => {
    const { status } = await upload([file("big", Buffer.alloc(20_000_000))], `?${query("/etc/big")}`);
    expect(status).toBe(403);
  });

  test("an upload that breaks off leaves nothing", async () => {
    const outgoing = request({
      socketPath: agent.socket,
      method: "POST",
      path: "/files/upload",
      headers: { ...multipart, authorization: `Bearer ${agent.token}`, "content-length": "1000000" },
    });
    outgoing.on("error", () => undefined);
    outgoing.write(file("f.txt", Buffer.alloc(100_000)));
    await eventually("the file comes in", async () => (await readdir(agent.workspace)).length > 0);
    outgoing.destroy();
    await eventually("it is gone again", async () => (await readdir(agent.workspace)).length === 0);
  });
});

describe("downloading", () => {
  test("tells length and name", async () => {
    await write('od"d é.txt', "content");
    const { headers, bytes } = await download('od"d é.txt');
    expect(bytes.toString()).toBe("content");
    expect(headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": "7",
      "content-disposition": `attachment; filename="od_d _.txt"; filename*=UTF-8''od%22d%20%C3%A9.txt`,
    });
  });

  test("an empty file is empty", async () => {
    await write("empty", "");
    const { status, headers, bytes } = await download("empty");
    expect({ status, length: headers["content-length"], size: bytes.length }).toEqual({
      status: 200,
      length: "0",
      size: 0,
    });
  });

  test.for([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-2", 206, "89", "bytes 8-9/10"],
    ["bytes=5-500", 206, "56789", "bytes 5-9/10"],
    ["bytes=0-0,5-5", 200, "0123456789", undefined],
    ["lines=1-2", 200, "0123456789", undefined],
    ["bytes=nonsense", 200, "0123456789", undefined],
    ["bytes=10-", 416, undefined, "bytes */10"],
  ] as const)("with Range: %s", async ([range, status, content, contentRange]) => {
    await write("ten", "0123456789");
    const answer = await agent.call("GET", `/files/download?${query("ten")}`, undefined, {
      headers: { range },
    });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-range"]).toBe(contentRange);
    if (content !== undefined) expect(answer.bytes.toString()).toBe(content);
  });
});
