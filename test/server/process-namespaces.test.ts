import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const isRoot = process.getuid?.() === 0;
const elsewhere = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

/** Stops a server that runs in a namespace of its own. What started it there takes no signal. */
async function stop({ pid, stop }: LocalServer): Promise<void> {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number);
  if (child) process.kill(child, "SIGTERM");
  await stop("SIGCONT");
}

const directoriesOf = (pid: number): readonly string[] =>
  ["/tmp", "/dev/shm"].flatMap((place) =>
    readdirSync(place)
      .filter((name) => name.startsWith(`cloud-sandbox-${pid}-`))
      .map((name) => join(place, name)),
  );

test("servers that cannot see each other's processes leave each other's directories alone", async ({
  skip,
}) => {
  skip(!isRoot, "only root may make a namespace for processes here");
  const first = await startLocalServer({ args: ["--pool", "0"], env: { TMPDIR: "/tmp" } });
  onTestFinished(async () => void (await first.stop()));
  const caller = new ControlPlaneCaller(first);
  const sandbox = await caller.create();
  const own = directoriesOf(first.pid);
  expect(own.length).toBeGreaterThanOrEqual(3);
  const second = await startLocalServer({
    ...{ through: elsewhere, args: ["--pool", "0"], env: { TMPDIR: "/tmp" } },
  });
  try {
    const other = new ControlPlaneCaller(second);
    expect(await other.run(await other.create(), "echo second")).toMatchObject({
      body: { stdout: "second\n" },
    });
    expect(own.filter((path) => !existsSync(path))).toEqual([]);
    expect(await caller.run(sandbox, "echo first")).toMatchObject({ body: { stdout: "first\n" } });
  } finally {
    await stop(second);
  }
  expect(await caller.run(await caller.create(), "echo again")).toMatchObject({
    body: { stdout: "again\n" },
  });
});

test("a data directory is refused to a server that cannot see the process which uses it", async ({
  skip,
}) => {
  skip(!isRoot, "only root may make a namespace for processes here");
  const dataDir = mkdtempSync(join(tmpdir(), "shared-data-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const args = ["--pool", "0", "--data-dir", dataDir];
  const server = await startLocalServer({ args });
  try {
    const { code, stderr } = await runBuilt("local", ["serve", ...args], { through: elsewhere });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("is in use") });
  } finally {
    await server.stop();
  }
  const next = await startLocalServer({ through: elsewhere, args });
  expect((await fetch(`${next.url}/health`)).status).toBe(200);
  await stop(next);
});
