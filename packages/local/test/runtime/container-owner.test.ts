import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ContainerInfo } from "dockerode";
import { describe, expect, test } from "vitest";
import {
  endStart,
  isOrphan,
  labels,
  processLabels,
} from "../../src/runtime/docker/engine/container-owner.js";

const asker = { server: "this-server", owner: "own", uses: (name: string) => name === "used" };
const alive = processLabels();
const dead = { ...alive, [labels.process]: "1-1" };
const elsewhere = { ...dead, [labels.host]: "another" };
const minute = 60_000;

describe("a container", () => {
  test.each<[string, boolean, Record<string, string>, string, Partial<{ name: string; age: number }>?]>([
    ["of a stranger", false, {}, "exited"],
    ["of a stranger who uses one of our labels", false, { [labels.process]: "1-1" }, "exited"],
    [
      "that this server uses",
      false,
      { ...alive, [labels.server]: "this-server" },
      "running",
      { name: "used" },
    ],
    [
      "of this server that it does not use any more",
      true,
      { ...alive, [labels.server]: "this-server" },
      "running",
    ],
    ["of another server in this process", false, { ...alive, [labels.server]: "other" }, "created"],
    ["that it has adopted", false, { ...dead, [labels.owner]: "own" }, "running", { name: "used" }],
    ["of its own directory that it has not adopted", true, { ...dead, [labels.owner]: "own" }, "running"],
    [
      "of its own directory, started on another machine",
      true,
      { ...elsewhere, [labels.owner]: "own" },
      "paused",
    ],
    ["of another directory whose server was killed", false, { ...dead, [labels.owner]: "other" }, "running"],
    ["of another directory, frozen", false, { ...dead, [labels.owner]: "other" }, "paused"],
    ["of another directory that has ended", true, { ...dead, [labels.owner]: "other" }, "exited"],
    [
      "of another directory that its server is starting",
      false,
      { ...alive, [labels.owner]: "other" },
      "created",
    ],
    [
      "of another directory whose server was killed while it started it",
      true,
      { ...dead, [labels.owner]: "other" },
      "created",
    ],
    ["without a directory whose server was killed, frozen", true, dead, "paused"],
    ["without a directory whose server was killed", true, dead, "running"],
    ["without a directory of another machine", false, elsewhere, "running"],
    ["that another machine is starting", false, elsewhere, "created", { age: minute }],
    ["that another machine began to start long ago", true, elsewhere, "created", { age: 11 * minute }],
  ])("%s: is an orphan: %s", (_, expected, Labels, State, { name = "other", age = 0 } = {}) => {
    const Created = (Date.now() - age) / 1000;
    const info = { Names: [`/${name}`], Labels, State, Created } as ContainerInfo;
    expect(isOrphan(info, asker)).toBe(expected);
  });
});

test("the start of a container is ended, also one that containerd begins only now", async () => {
  const id = "0123456789abcdef".repeat(4);
  // A process with the command line of one that holds a container.
  const shim = (): ChildProcess =>
    spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)", "--", "-namespace", "moby", "-id", id], {
      argv0: "containerd-shim-runc-v2",
      stdio: "ignore",
    });
  const first = shim();
  await once(first, "spawn");
  await expect
    .poll(() => readFileSync(`/proc/${first.pid}/cmdline`, "utf8"))
    .toMatch(/^containerd-shim.*-id/);
  const ended = once(first, "exit");
  await endStart(id);
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(await once(shim(), "exit")).toEqual([null, "SIGKILL"]);
});
