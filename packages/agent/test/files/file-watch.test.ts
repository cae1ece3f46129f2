import { appendFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type WatchFrame, watchFrame } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";
import { SocketClient } from "../support/socket-client.js";

let agent: RunningAgent;
let folder: string;
let number = 0;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});
beforeEach(async () => {
  number += 1;
  folder = join(agent.workspace, `watched-${number}`);
  await mkdir(folder);
});

const at = (...names: string[]) => join(folder, ...names);

/** Watches `folder`. Resolves when changes are reported. */
async function watching(): Promise<SocketClient<WatchFrame>> {
  const client = await SocketClient.open(agent, "/files/watch", watchFrame);
  client.send({ action: "watch", path: folder, ready: true });
  await client.until("it watches", (frames) => frames.some(({ type }) => type === "ready"));
  return client;
}

const changes = (frames: readonly WatchFrame[]) =>
  frames.flatMap((frame) => {
    if (frame.type !== "change") return [];
    const old = frame.old_path === undefined ? [] : [String(frame.old_path).slice(folder.length + 1)];
    return [[frame.event, String(frame.path).slice(folder.length + 1), ...old].join(" ")];
  });

/**
 * Makes two last changes, waits for their reports, and resolves with the changes reported until then. One last change
 * is not enough: changes that the agent sees at the same time are reported directory by directory, so a change in a
 * subdirectory may be reported after the first of them. The second is made after the report on the first.
 */
async function all(client: SocketClient<WatchFrame>): Promise<string[]> {
  for (const name of ["last", "very last"]) {
    await writeFile(at(name), "");
    await client.until("the last change is told", (frames) => changes(frames).includes(`created ${name}`));
  }
  return changes(client.frames).filter((change) => !change.endsWith(" last"));
}

describe("a watch reports", () => {
  test("that a file is created, changed, renamed and removed", async () => {
    using client = await watching();
    await writeFile(at("note"), "one");
    await client.until("its making is told", (frames) => changes(frames).includes("created note"));
    await appendFile(at("note"), "two");
    await client.until("its change is told", (frames) => changes(frames).includes("modified note"));
    await rename(at("note"), at("letter"));
    await client.until("its renaming is told", (frames) => changes(frames).includes("renamed letter note"));
    await rm(at("letter"));
    await client.until("its end is told", (frames) => changes(frames).includes("deleted letter"));
    const events = changes(client.frames);
    expect(events.filter((event) => /created|renamed|deleted/.test(event))).toEqual([
      "created note",
      "renamed letter note",
      "deleted letter",
    ]);
    expect(client.frames.at(-1)).toMatchObject({ path: at("letter"), timestamp: expect.any(String) });
  });

  test("what a program in the sandbox does to files", async () => {
    using client = await watching();
    await agent.run({ command: "echo one > a; mkdir -p x/y; echo two > x/y/b; mv a x/y/c", workdir: folder });
    await client.until("all is told", (frames) => changes(frames).some((change) => change.includes("x/y/c")));
    const events = await all(client);
    for (const path of ["x", "x/y", "x/y/b"])
      expect(events.filter((event) => event === `created ${path}`)).toHaveLength(1);
  });

  test("that a file is replaced by another, as editors save files", async () => {
    await writeFile(at("text"), "old");
    using client = await watching();
    await writeFile(at(".text.swp"), "new");
    await rename(at(".text.swp"), at("text"));
    const events = await all(client);
    // The agent reports the rename if it has seen the temporary file before, and a modification otherwise.
    expect(events.some((event) => event === "modified text" || event === "renamed text .text.swp")).toBe(
      true,
    );
    expect(events).not.toContain("deleted text");
  });

  test("a file that exists only for a moment, and a directory", async () => {
    using client = await watching();
    await agent.run({
      command: "for n in 1 2 3; do : > f$n; rm f$n; done; mkdir d; rmdir d",
      workdir: folder,
    });
    const brief = (events: readonly string[]) =>
      events.filter((event) => !event.startsWith("modified")).toSorted();
    const names = ["d", "f1", "f2", "f3"];
    expect(brief(await all(client))).toEqual([
      ...names.map((name) => `created ${name}`),
      ...names.map((name) => `deleted ${name}`),
    ]);
  });

  test("a file that is written through the API, without its temporary name", async () => {
    using client = await watching();
    await agent.call("POST", "/files/write", { path: at("written"), content: "whole" });
    await agent.call("POST", "/files/write", { path: at("empty"), content: "" });
    await client.until("the empty one is told", (frames) => changes(frames).includes("created empty"));
    await agent.call("POST", "/files/write", { path: at("written"), content: "anew" });
    expect(await all(client)).toEqual([
      "created written",
      "modified written",
      "created empty",
      "modified written",
    ]);
  });

  test("no renaming for a file that takes the place of one that was removed", async () => {
    await writeFile(at("old"), "");
    using client = await watching();
    await rm(at("old"));
    await writeFile(at("new"), "");
    expect((await all(client)).toSorted()).toEqual(["created new", "deleted old"]);
  });
});

describe("watched directories", () => {
  test("include all directories below, later ones too", async () => {
    await mkdir(at("a", "b"), { recursive: true });
    using client = await watching();
    await writeFile(at("a", "b", "deep"), "");
    await client.until("it is told", (frames) => changes(frames).includes("created a/b/deep"));
    await mkdir(at("c", "d", "e"), { recursive: true });
    await writeFile(at("c", "d", "e", "deeper"), "");
    await client.until("it is told", (frames) => changes(frames).includes("created c/d/e/deeper"));
    await appendFile(at("c", "d", "e", "deeper"), "more");
    await client.until("it is told", (frames) => changes(frames).includes("modified c/d/e/deeper"));
    const made = changes(client.frames).filter((event) => event.startsWith("created"));
    expect(made).toEqual([
      "created a/b/deep",
      "created c",
      "created c/d",
      "created c/d/e",
      "created c/d/e/deeper",
    ]);
  });

  test("are watched under their new name after they were renamed", async () => {
    await mkdir(at("before", "inner"), { recursive: true });
    await writeFile(at("before", "inner", "file"), "");
    using client = await watching();
    await rename(at("before"), at("after"));
    await client.until("it is told", (frames) => changes(frames).includes("renamed after before"));
    await appendFile(at("after", "inner", "file"), "more");
    await client.until("it is told", (frames) => changes(frames).includes("modified after/inner/file"));
    expect(await all(client)).toEqual(["renamed after before", "modified after/inner/file"]);
  });

  test("that are removed take all with them", async () => {
    await mkdir(at("tree", "branch"), { recursive: true });
    await writeFile(at("tree", "branch", "leaf"), "");
    using client = await watching();
    await rm(at("tree"), { recursive: true });
    const events = await all(client);
    expect(events.toSorted()).toEqual(["deleted tree", "deleted tree/branch", "deleted tree/branch/leaf"]);
  });

  test("do not include those behind symbolic links", async () => {
    await mkdir(at("real"));
    await symlink("/etc", at("outside"));
    using client = await watching();
    await symlink(at("real"), at("inside"));
    await writeFile(at("real", "file"), "");
    expect((await all(client)).toSorted()).toEqual(["created inside", "created real/file"]);
  });
});

test("the end of the watched directory is reported, and nothing after it", async () => {
  using client = await watching();
  await rm(folder, { recursive: true });
  await client.until("it is told", (frames) =>
    frames.some((frame) => frame.type === "change" && frame.path === folder && frame.event === "deleted"),
  );
});

test("changes are not reported any more after a watch was ended", async () => {
  using client = await watching();
  client.send({ action: "unwatch", path: folder });
  client.send({ action: "watch", path: agent.temporary, ready: true });
  await client.until("the other is watched", (frames) =>
    frames.some((frame) => frame.type === "ready" && frame.path === agent.temporary),
  );
  await writeFile(at("unseen"), "");
  await writeFile(join(agent.temporary, "seen"), "");
  await client.until("the other is told", (frames) =>
    frames.some((frame) => frame.type === "change" && frame.path === join(agent.temporary, "seen")),
  );
  expect(JSON.stringify(client.frames)).not.toContain("unseen");
});

test.each<[string, () => object, string]>([
  ["a place that is not served", () => ({ action: "watch", path: "/etc" }), "PATH_NOT_ALLOWED"],
  ["a way out of it", () => ({ action: "watch", path: "../../../etc" }), "PATH_NOT_ALLOWED"],
  ["a link out of it", () => ({ action: "watch", path: at("out") }), "PATH_NOT_ALLOWED"],
  ["what is not there", () => ({ action: "watch", path: at("nothing") }), "FILE_NOT_FOUND"],
  ["a file", () => ({ action: "watch", path: at("file") }), "INVALID_PATH"],
  ["no path", () => ({ action: "watch" }), "MISSING_PARAMETER"],
  ["another action", () => ({ action: "look", path: folder }), "INVALID_REQUEST"],
])("a frame with %s is refused, and the connection goes on", async (_, frame, code) => {
  await symlink("/etc", at("out"));
  await writeFile(at("file"), "");
  using client = await SocketClient.open(agent, "/files/watch", watchFrame);
  client.send(frame());
  await client.until("it is refused", (frames) => frames.length > 0);
  expect(client.frames).toMatchObject([{ type: "error", code }]);
  client.send({ action: "watch", path: folder, ready: true });
  await client.until("another is watched", (frames) => frames.at(-1)?.type === "ready");
});

test("a watch of more directories than are allowed is refused, and the limit is named", async () => {
  await agent.run({
    command: "for i in $(seq 70); do mkdir -p d$i; (cd d$i; mkdir $(seq 60)); done",
    workdir: folder,
  });
  using client = await SocketClient.open(agent, "/files/watch", watchFrame);
  client.send({ action: "watch", path: folder, ready: true });
  await client.until("it is refused", (frames) => frames.length > 0);
  expect(client.frames).toMatchObject([{ type: "error", code: "RESOURCE_EXHAUSTED" }]);
  expect(JSON.stringify(client.frames)).toContain("4096 directories");
  // The agent watches none of those directories any more, so there is room to watch others.
  client.send({ action: "watch", path: at("d1"), ready: true });
  await client.until("a part of it is watched", (frames) => frames.at(-1)?.type === "ready");
});
