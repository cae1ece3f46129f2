import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileCalls } from "../support/file-calls.js";
import { RunningAgent } from "../support/running-agent.js";

test("a directory that is swapped for a link at the right moment does not lead out of the served directories", async () => {
  await using agent = await RunningAgent.start();
  const { read, write } = fileCalls(() => agent);
  const outside = join(agent.home, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "secret"), "secret");
  await write("swapped/secret", "harmless");
  await symlink(outside, join(agent.workspace, "link"));
  const swap =
    'import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.renameat2(-100, b"swapped", -100, b"link", 2)';
  const swapper = spawn("python3", ["-c", swap], { cwd: agent.workspace });
  const exit = once(swapper, "exit");
  const seen = new Set<string>();
  // All of these outcomes must occur: otherwise the directories were not swapped while requests ran.
  const wanted = ["harmless", "written", "PATH_NOT_ALLOWED"];
  const deadline = Date.now() + 40_000;
  const isEnough = () => wanted.every((what) => seen.has(what)) || Date.now() > deadline;
  try {
    for (let turn = 0; turn < 300 || !isEnough(); turn += 1) {
      const attempts = [1, 2, 3].flatMap(() => [read("swapped/secret"), write("swapped/new", "new")]);
      for (const { body } of await Promise.all(attempts))
        seen.add(String(body.code ?? body.content ?? "written"));
    }
  } finally {
    swapper.kill("SIGKILL");
    await exit;
  }
  expect(await readdir(outside)).toEqual(["secret"]);
  expect(seen).not.toContain("secret");
  expect([...seen]).toEqual(expect.arrayContaining(wanted));
}, 60_000);
