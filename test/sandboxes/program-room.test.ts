import { totalmem } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants, killAll } from "../support/host-processes.js";
import { startLocalServer } from "../support/local-server.js";

test("programs count as sandboxes, wait for room, and leave some to sandboxes", async () => {
  const server = await startLocalServer({ args: ["--pool", "0", "--max-sandboxes", "4"] });
  onTestFinished(async () => {
    await server.stop();
  });
  const caller = new ControlPlaneCaller(server);
  const create = () => caller.call<{ id: string }>("POST", "/sandboxes", { template_name: "base" });
  const run = (code: string, signal?: AbortSignal) =>
    caller.call("POST", "/executions", { language: "bash", code, timeout: 300 }, {}, signal);
  const sleeping = () =>
    descendants(server.pid).filter(({ commandLine }) => commandLine === "sleep 98765").length;

  const leaving = new AbortController();
  const burst = Array.from({ length: 12 }, () => run("sleep 98765", leaving.signal));
  const ended = Promise.allSettled(burst);
  await expect.poll(sleeping).toBe(3);
  expect((await create()).status).toBe(201);
  expect(await create()).toMatchObject({ status: 429, body: { code: "RESOURCE_LIMIT_ERROR" } });
  expect(sleeping()).toBe(3);
  leaving.abort();
  await ended;

  await expect.poll(async () => (await create()).status).toBe(201);
  const others = [await create(), await create()];
  expect(others.map(({ status }) => status)).toEqual([201, 201]);
  const waiting = run("echo ran");
  // A request that is answered after the program's: the program is in the queue by then.
  await caller.call("GET", "/sandboxes");
  expect(await Promise.race([waiting, "waiting"])).toBe("waiting");
  await caller.call("DELETE", `/sandboxes/${others[0]?.body.id}`);
  expect(await waiting).toMatchObject({ status: 200, body: { stdout: "ran\n" } });
});

test("programs that need a sandbox of their own run one after the other where there is room for one", async () => {
  const hostMb = Math.floor(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20);
  const run = async (rooms: number) => {
    const server = await startLocalServer({
      args: [
        ...["--pool", "0", "--memory-mb", "256", "--disk-mb", "256"],
        ...["--memory-overcommit", String((rooms * 512) / hostMb)],
      ],
    });
    onTestFinished(async () => {
      await server.stop();
    });
    const caller = new ControlPlaneCaller(server);
    for (let others = 0; others < Math.floor(rooms) - 1; others += 1)
      await caller.call("POST", "/sandboxes", { template_name: "base" });
    // Another working directory takes an agent.
    const program = { language: "bash", code: "sleep 0.1; pwd", workdir: "/tmp" };
    const told = await Promise.all([1, 2, 3, 4].map(() => caller.call("POST", "/executions", program)));
    return told.map(({ status, body }) => [status, body.stdout]);
  };
  const all = Array.from({ length: 4 }, () => [200, "/tmp\n"]);
  expect(await run(1.5)).toEqual(all);
  expect(await run(4.5)).toEqual(all);
});

test("a sandbox that has failed gives its room to a program that waits, and to the next sandbox", async () => {
  const server = await startLocalServer({ args: ["--pool", "0", "--max-sandboxes", "1"] });
  onTestFinished(async () => {
    await server.stop();
  });
  const caller = new ControlPlaneCaller(server);
  const create = () => caller.call<{ id: string }>("POST", "/sandboxes", { template_name: "base" });
  const { body } = await create();
  const waiting = caller.call("POST", "/executions", { language: "bash", code: "echo ran" });
  await caller.call("GET", "/sandboxes");
  killAll(descendants(server.pid));
  expect(await waiting).toMatchObject({ status: 200, body: { stdout: "ran\n" } });
  expect((await caller.call("GET", `/sandboxes/${body.id}`)).body).toMatchObject({ status: "error" });
  expect((await create()).status).toBe(201);
});
