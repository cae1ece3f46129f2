import { mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SmallDirectory } from "../../../../test/support/small-directory.js";
import { RunningAgent } from "../support/running-agent.js";

const own = (name: string): boolean => name.startsWith(".cloud-sandbox-");

/** Renames each of the agent's own directories, and lets `replace` put something else in its place. */
async function replaceOwn(temporary: string, replace: (path: string) => Promise<unknown>): Promise<void> {
  for (const name of (await readdir(temporary)).filter(own)) {
    const path = join(temporary, name);
    await rename(path, join(temporary, `was${name}`));
    await replace(path);
  }
}

/** Replaces each file in the agent's own directories by a directory. */
async function hollow(temporary: string): Promise<void> {
  for (const name of (await readdir(temporary)).filter(own))
    for (const file of [...(await readdir(join(temporary, name))), "environment.json"]) {
      await rm(join(temporary, name, file), { recursive: true, force: true });
      await mkdir(join(temporary, name, file, "in the way"), { recursive: true });
    }
}

const ways: readonly [string, (temporary: string) => Promise<unknown>][] = [
  ["is removed", (temporary) => rename(temporary, `${temporary}.gone`)],
  [
    "is replaced by a file",
    (temporary) => rename(temporary, `${temporary}.gone`).then(() => writeFile(temporary, "")),
  ],
  [
    "is replaced by a link to itself",
    (temporary) => rename(temporary, `${temporary}.gone`).then(() => symlink(temporary, temporary)),
  ],
  [
    "has files in the place of the agent's directories",
    (temporary) => replaceOwn(temporary, (path) => writeFile(path, "")),
  ],
  [
    "has links in the place of the agent's directories",
    (temporary) => replaceOwn(temporary, (path) => symlink("nowhere", path)),
  ],
  ["has directories in the place of the agent's files", hollow],
];

const code = "print('x' * 3_000_000)";
const calls: readonly [string, string, unknown?][] = [
  ["POST", "/execute", { code: "print(1)", language: "python" }],
  ["POST", "/execute", { code, language: "python" }],
  ["POST", "/execute", { code: "console.log(1)", language: "javascript" }],
  ["POST", "/execute", { code: "echo 1", language: "bash" }],
  ["POST", "/execute", { code: "package main\nfunc main() { println(1) }", language: "go" }],
  ["POST", "/execute/rich", { code: "1 + 1", language: "python" }],
  ["POST", "/execute/ipython", { code: "1 + 1" }],
  ["POST", "/execute/background", { code: "print(1)", language: "python" }],
  ["POST", "/execute/background", { code: "echo 1", language: "bash" }],
  ["GET", "/execute/processes"],
  ["POST", "/commands/run", { command: "echo 1" }],
  ["POST", "/commands/run", { command: "head -c 3000000 /dev/zero" }],
  ["POST", "/commands/background", { command: "echo 1" }],
  ["GET", "/env"],
  ["PUT", "/env", { env_vars: { A: "1" } }],
  ["PATCH", "/env", { env_vars: { B: "1" } }],
  ["DELETE", "/env/B"],
  ["POST", "/files/write", { path: "f", content: "text" }],
  ["POST", "/files/write", { path: "d/e/f", content: "text" }],
  ["GET", "/files/read?path=f"],
  ["GET", "/files/list?path=."],
  ["POST", "/files/mkdir", { path: "d2" }],
  ["GET", "/system"],
  ["GET", "/processes"],
  ["GET", "/metrics/snapshot"],
  ["GET", "/jupyter/sessions"],
  ["GET", "/info"],
  ["GET", "/health"],
];

test.each(ways)(
  "every refusal gives its reason and no path of the agent's own where the directory of temporary files %s",
  { timeout: 120_000 },
  async (_, spoil) => {
    await using agent = await RunningAgent.start();
    await agent.execute({ code: "print(1)" });
    await agent.call("PUT", "/env", { env_vars: { A: "0" } });
    await agent.call("POST", "/commands/background", { command: "sleep 100" });
    await spoil(agent.temporary);
    expect(await naming(agent)).toEqual([]);
  },
);

test("every refusal gives its reason and no path of the agent's own where the disk is full", {
  timeout: 120_000,
}, async ({ skip }) => {
  skip(process.getuid?.() !== 0, "only root may mount a small disk");
  using disk = new SmallDirectory(4);
  const temporary = join(disk.data, "tmp");
  const workspace = join(disk.data, "workspace");
  for (const path of [temporary, workspace]) await mkdir(path, { recursive: true });
  await using agent = await RunningAgent.start({ roots: [workspace, temporary] });
  await agent.call("PUT", "/env", { env_vars: { A: "0" } });
  disk.fill();
  expect(await naming(agent)).toEqual([]);
});

/**
 * Makes all calls. Lists those that fail with status 500, or are refused with a message that names a path of the
 * agent's own.
 */
async function naming(agent: RunningAgent): Promise<string[]> {
  const found: string[] = [];
  for (const [method, path, body] of calls) {
    const { status, headers, bytes } = await agent.call(method, path, body);
    const text = JSON.stringify(headers) + bytes.toString();
    if (status === 500 || (status >= 400 && text.includes(".cloud-sandbox-")))
      found.push(`${method} ${path}: ${status} ${text}`);
  }
  return found;
}
