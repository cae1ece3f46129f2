import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(agent.workspace, { recursive: true });
  await mkdir(agent.workspace);
});

const query = (path: string) => `path=${encodeURIComponent(path)}`;
const get = (what: string, path: string) => agent.call("GET", `/files/${what}?${query(path)}`);
const remove = (path: string) => agent.call("DELETE", `/files/remove?${query(path)}`);

describe("a name that is not UTF-8", () => {
  const name = Buffer.from([0x61, 0xff, 0x62]);
  const shown = "a\ufffdb";
  const place = (...parts: Buffer[]) =>
    Buffer.concat([Buffer.from(agent.workspace), ...parts.flatMap((part) => [Buffer.from("/"), part])]);

  test("is listed, and the listed path leads to it", async () => {
    await mkdir(place(name));
    await writeFile(place(name, name), "content");
    const { body } = await agent.call<AgentSchemas["FileListResponse"]>("GET", "/files/list?path=.");
    expect(body.files).toMatchObject([{ name: shown, is_directory: true }]);
    const path = body.files?.[0]?.path ?? "";
    expect((await get("read", `${path}/${shown}`)).body).toMatchObject({
      content: "content",
    });
    expect((await get("download", `${path}/${shown}`)).bytes.toString()).toBe("content");
    await agent.call("POST", "/files/write", { path: `${path}/new`, content: "inside" });
    expect(await readFile(place(name, Buffer.from("new")), "utf8")).toBe("inside");
    expect((await remove(`${path}/${shown}`)).status).toBe(200);
    expect(await readdir(place(name))).toEqual(["new"]);
    expect((await remove(path)).status).toBe(200);
    expect(await readdir(agent.workspace)).toEqual([]);
  });

  test("is not guessed where two names read the same", async () => {
    await writeFile(place(name), "");
    await writeFile(place(Buffer.from([0x61, 0xfe, 0x62])), "");
    const { status, body } = await get("read", shown);
    expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_PATH" });
  });

  test("does not lead out of the served directories", async () => {
    await symlink("/etc", place(name));
    const { body } = await get("read", `${shown}/passwd`);
    expect(body.code).toBe("PATH_NOT_ALLOWED");
  });
});
