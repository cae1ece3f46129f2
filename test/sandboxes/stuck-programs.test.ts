import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { leftovers, uidLeases } from "../chaos/leftovers.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants } from "../support/host-processes.js";
import { cannotStartAs, startLocalServer } from "../support/local-server.js";

/** The directories of a process's control groups, by controller; of version 2 there is one, without a name. */
function groupsOf(pid: number): Map<string, string> {
  const lines = readFileSync(`/proc/${pid}/cgroup`, "utf8").matchAll(/^\d+:(.*):(.*cloud-sandbox.*)$/gm);
  return new Map([...lines].map(([, name = "", path = ""]) => [name, join("/sys/fs/cgroup", name, path)]));
}

test("a program whose processes do not end is answered, and what is left of it is removed later", async ({
  skip,
}) => {
  const obstacle = cannotStartAs("root");
  skip(obstacle !== undefined, obstacle);
  const server = await startLocalServer({ args: ["--pool", "0", "--max-sandboxes", "3"] });
  onTestFinished(async () => {
    await server.stop();
  });
  const caller = new ControlPlaneCaller(server);
  const pidOf = (command: string) =>
    descendants(server.pid).find(({ commandLine }) => commandLine === command)?.pid;
  const leaving = new AbortController();
  const run = async (command: string, signal?: AbortSignal) => {
    const body = { language: "bash", code: `${command}; echo end`, timeout: 300 };
    const answer = caller.call("POST", "/executions", body, {}, signal);
    answer.catch(() => undefined);
    await expect.poll(() => pidOf(command)).toBeDefined();
    const pid = pidOf(command) ?? 0;
    return { answer, pid, groups: groupsOf(pid) };
  };

  const busy = await run("sleep 98761");
  skip(busy.groups.size === 0, "this host has no control groups");
  const frozen = await run("sleep 98762", leaving.signal);
  // Somebody else's process in the control group of one keeps it there. The other does not even die.
  const guest = spawn("sleep", ["98763"]);
  onTestFinished(() => void guest.kill("SIGKILL"));
  const memory = busy.groups.get("memory") ?? busy.groups.get("");
  writeFileSync(join(String(memory), "cgroup.procs"), String(guest.pid));
  const freezer = frozen.groups.get("freezer");
  if (freezer !== undefined) writeFileSync(join(freezer, "freezer.state"), "FROZEN");
  else writeFileSync(join(String(frozen.groups.get("")), "cgroup.freeze"), "1");
  leaving.abort();
  process.kill(busy.pid, "SIGKILL");

  expect(await busy.answer).toMatchObject({ status: 200, body: { exit_code: 0, stdout: "end\n" } });
  await expect(frozen.answer).rejects.toThrow();
  // The frozen one is thawed. The uids of the other stay taken.
  await expect.poll(() => uidLeases(server.pid)).toHaveLength(2);
  expect(server.log()).toMatch(/The control group of program \w+ could not be removed yet.*EBUSY/);
  // What is left of it still counts as one of the server's sandboxes.
  const create = () => caller.call("POST", "/sandboxes", { template_name: "base" });
  const others = [await create(), await create()];
  expect(others.map(({ status }) => status)).toEqual([201, 201]);
  expect((await create()).status).toBe(429);
  guest.kill("SIGKILL");
  await expect.poll(async () => (await create()).status).toBe(201);
  await expect.poll(() => server.log().match(/is removed now/g)).toHaveLength(freezer === undefined ? 1 : 2);
  await server.stop();
  expect(leftovers(new Set([server.pid]))).toEqual([]);
});
