import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { descendants } from "../../../../test/support/host-processes.js";
import { InstanceDirectory } from "../../src/runtime/host/instance-directory.js";
import { InstanceGuard } from "../../src/runtime/host/instance-guard.js";

function guarded(): { directory: InstanceDirectory; guard: InstanceGuard; places: () => boolean[] } {
  const directory = InstanceDirectory.plan();
  const guard = new InstanceGuard(directory, []);
  directory.make();
  const all = [directory.path, directory.inMemory];
  for (const place of all) writeFileSync(join(place, "file"), "");
  return { directory, guard, places: () => all.map(existsSync) };
}

/** The guards that this process has started, as numbers of processes. */
const guards = (): number[] =>
  descendants(process.pid)
    .filter(({ commandLine }) => commandLine.includes("cloud-sandbox-guard"))
    .map(({ pid }) => pid);

test("a guard that is released has removed the directory", async () => {
  const { guard, places } = guarded();
  expect(places()).toEqual([true, true]);
  await guard.release();
  expect(places()).toEqual([false, false]);
  expect(guards()).toEqual([]);
});

test("a guard removes the directory when it is told to, and stays until it is released", async () => {
  const { guard, places } = guarded();
  guard.removeDirectory();
  await expect.poll(places).toEqual([false, false]);
  expect(guards()).toHaveLength(1);
  await guard.release();
  expect(guards()).toEqual([]);
});

test("the directory of a guard that somebody killed is removed without it", async () => {
  const { guard, places } = guarded();
  for (const pid of guards()) process.kill(pid, "SIGKILL");
  await expect.poll(guards).toEqual([]);
  await guard.release();
  expect(places()).toEqual([false, false]);
});
