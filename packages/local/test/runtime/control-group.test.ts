import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openControlGroups } from "../../src/runtime/host/control-group.js";

// These tests use ordinary files, named as the kernel names those of control groups version 2, because the machine may
// have only version 1.
let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "control-groups-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const limits = { memoryMb: 512, diskMb: 256, vcpu: 1.5, maxProcesses: 99 };

test("a control group of version 2 limits a machine's memory, processes and CPU", async () => {
  await writeFile(join(base, "cgroup.controllers"), "cpuset cpu io memory pids\n");
  const groups = await openControlGroups("42-7", base);
  expect(groups?.version).toBe(2);
  expect(await readFile(join(base, "cgroup.subtree_control"), "utf8")).toBe("+memory +pids +cpu");

  const group = await groups?.create("box", limits, 2);
  const directory = join(base, "cloud-sandbox", "42-7", "box");
  const read = (name: string): Promise<string> => readFile(join(directory, name), "utf8");
  expect(await read("memory.max")).toBe(String((512 + 2 * 256) * 1024 * 1024));
  expect(await read("memory.swap.max")).toBe("0");
  expect(await read("pids.max")).toBe("99");
  expect(await read("cpu.max")).toBe("150000 100000");
  expect(group?.memberFiles).toEqual([join(directory, "machine", "cgroup.procs")]);
  // Processes that copy the machine's files are in a group of their own: they have its limits, but go on while it is
  // frozen.
  expect(group?.helperFiles).toEqual([join(directory, "helpers", "cgroup.procs")]);
  expect(group?.canFreeze).toBe(true);

  // Some of its processes still run.
  await writeFile(join(directory, "machine/cgroup.events"), "populated 1\nfrozen 0\n");
  let isFrozen = false;
  const frozen = group?.freeze(true).then(() => {
    isFrozen = true;
  });
  await expect.poll(() => read("machine/cgroup.freeze")).toBe("1");
  expect(isFrozen).toBe(false);
  await writeFile(join(directory, "machine/cgroup.events"), "populated 1\nfrozen 1\n");
  await frozen;
  await writeFile(join(directory, "memory.events"), "low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\n");
  expect(await group?.outOfMemoryKills()).toBe(2);
});

test("a control group that does not freeze in time is thawed", async () => {
  await writeFile(join(base, "cgroup.controllers"), "cpu memory pids\n");
  const groups = await openControlGroups("42-7", base);
  const group = await groups?.create("box", limits, 2);
  const machine = join(base, "cloud-sandbox", "42-7", "box", "machine");
  await writeFile(join(machine, "cgroup.events"), "populated 1\nfrozen 0\n");
  await expect(group?.freeze(true)).rejects.toThrow(/did not stop within 5 s/);
  expect(await readFile(join(machine, "cgroup.freeze"), "utf8")).toBe("0");
});

test("a host with too few controllers has no control groups, and keeps no directory of the attempt", async () => {
  await writeFile(join(base, "cgroup.controllers"), "cpuset io\n");
  await mkdir(join(base, "cpu"));
  expect(await openControlGroups("42-7", base)).toBeUndefined();
  expect(await readdir(join(base, "cpu"))).toEqual([]);
});
