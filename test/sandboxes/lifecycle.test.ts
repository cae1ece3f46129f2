import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlPlaneCaller, type CreatedSandbox } from "../support/control-plane-caller.js";
import { descendants, type HostProcess, killAll } from "../support/host-processes.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let api: ControlPlaneCaller;
beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "2"] });
  api = new ControlPlaneCaller(server);
});
afterAll(() => server?.stop());

const step = (id: string, verb: string): Promise<string> => api.told("POST", `/sandboxes/${id}/${verb}`);

async function output(sandbox: CreatedSandbox, command: string): Promise<unknown> {
  return (await api.run(sandbox, command)).body.stdout;
}

describe("a stopped sandbox", () => {
  test("has its files, its variables and its token when it is started, and none of its processes", async () => {
    const sandbox = await api.create({ env_vars: { API_TOKEN: "abc" } });
    await output(
      sandbox,
      "echo kept > /workspace/a; mkdir ~/dir; echo deep > ~/dir/f; chmod 711 ~/dir; ln -s /etc/shadow /tmp/link; truncate -s 300G /tmp/sparse; sleep 1000 & mkfifo /tmp/pipe",
    );
    expect(await step(sandbox.id, "stop")).toBe("200 stopped");
    expect((await api.run(sandbox, "true")).body.code).toBe("SANDBOX_STOPPED");
    expect(await step(sandbox.id, "start")).toBe("200 running");
    expect(
      await output(
        sandbox,
        "cat /workspace/a ~/dir/f; readlink /tmp/link; stat -c '%s %A' /tmp/sparse ~/dir /tmp/pipe; echo $API_TOKEN; cat /proc/[0-9]*/comm | grep -cx sleep",
      ),
    ).toMatch(/^kept\ndeep\n\/etc\/shadow\n322122547200 -rw.*\n\d+ drwx--x--x\n0 p.*\nabc\n0\n$/);
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test.each([
    [
      "running",
      [],
      { stop: "200 stopped", start: "200 running", pause: "200 paused", resume: "200 running" },
    ],
    ["paused", ["pause"], { pause: "200 paused", start: "409 SANDBOX_PAUSED", stop: "200 stopped" }],
    [
      "stopped",
      ["stop"],
      {
        stop: "200 stopped",
        pause: "409 SANDBOX_STOPPED",
        resume: "409 SANDBOX_STOPPED",
        start: "200 running",
      },
    ],
  ])("or one that is %s answers each step as documented", async (_, before, steps) => {
    const { id } = await api.create();
    for (const verb of before) await step(id, verb);
    const told: Record<string, string> = {};
    for (const verb of Object.keys(steps)) told[verb] = await step(id, verb);
    expect(told).toEqual(steps);
    await api.call("DELETE", `/sandboxes/${id}`);
  });

  test("lets an execution under way end with its processes", async () => {
    const sandbox = await api.create();
    const running = api.run(sandbox, "touch /workspace/began; sleep 1000");
    await expect.poll(() => output(sandbox, "ls /workspace")).toBe("began\n");
    expect(await step(sandbox.id, "stop")).toBe("200 stopped");
    const { status, body } = await running;
    expect([status, body.exit_code === 0]).toEqual([200, false]);
    expect((await api.call("POST", `/sandboxes/${sandbox.id}/start`)).body).toMatchObject({
      status: "running",
    });
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("is gone at once when it is deleted while it stops or starts", async () => {
    const own = await startLocalServer({ args: ["--pool", "0"] });
    const caller = new ControlPlaneCaller(own);
    try {
      for (const verb of ["stop", "start"]) {
        const { id } = await caller.create();
        if (verb === "start") await caller.told("POST", `/sandboxes/${id}/stop`);
        const [stepped, deleted] = await Promise.all([
          caller.told("POST", `/sandboxes/${id}/${verb}`),
          caller.told("DELETE", `/sandboxes/${id}`),
        ]);
        expect(deleted).toBe("200 deleted");
        expect(stepped).toMatch(/^(200|404 SANDBOX_NOT_FOUND)/);
        expect(await caller.told("GET", `/sandboxes/${id}`)).toBe("404 SANDBOX_NOT_FOUND");
        expect(descendants(own.pid).filter(isMachine)).toEqual([]);
      }
    } finally {
      await own.stop();
    }
  });

  test("gives its files to the control plane alone", async () => {
    const { id, auth_token } = await api.create();
    for (const [method, path] of [
      ["POST", "/internal/snapshot"],
      ["PUT", "/internal/snapshot"],
      ["DELETE", "/internal/processes"],
    ] as const) {
      const response = await fetch(`${server.url}/agent/${id}${path}`, {
        method,
        headers: { Authorization: `Bearer ${auth_token}` },
      });
      expect([method, response.status, await response.json()]).toEqual([
        method,
        403,
        expect.objectContaining({ code: "PERMISSION_DENIED" }),
      ]);
    }
    await api.call("DELETE", `/sandboxes/${id}`);
  });

  test("has a deadline, which can be moved and passes", async () => {
    const { id } = await api.create({ timeout_seconds: 300 });
    await step(id, "stop");
    await api.call("PUT", `/sandboxes/${id}/timeout`, { timeout_seconds: 1 });
    await expect.poll(() => api.told("GET", `/sandboxes/${id}`)).toBe("410 SANDBOX_EXPIRED");
    expect(await step(id, "start")).toBe("410 SANDBOX_EXPIRED");
  });
});

describe("a paused sandbox", () => {
  test("uses no CPU time, and continues where it was paused", async () => {
    const sandbox = await api.create();
    const busy = api.run(sandbox, "exec -a counting-loop python3 -c 'while True: pass'");
    const ticks = (): number => processorTicks(server.pid, "counting-loop");
    await expect.poll(ticks).toBeGreaterThan(5);
    expect(await step(sandbox.id, "pause")).toBe("200 paused");
    const frozenAt = ticks();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(ticks()).toBe(frozenAt);
    expect((await api.run(sandbox, "true")).body.code).toBe("SANDBOX_PAUSED");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/token/refresh`)).toMatch(/^200/);
    expect(await step(sandbox.id, "resume")).toBe("200 running");
    await expect.poll(ticks).toBeGreaterThan(frozenAt);
    expect(await output(sandbox, "echo on")).toBe("on\n");
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
    expect((await busy).status).toBeGreaterThanOrEqual(400);
  });

  test("that breaks down while it is paused or resumed is told to have failed, and never to run", async () => {
    const machineOf = (mark: string): HostProcess[] =>
      descendants(server.pid).filter(({ pid }) =>
        descendants(pid).some(({ commandLine }) => commandLine === mark),
      );
    for (let round = 0; round < 6; round += 1) {
      const sandbox = await api.create();
      const mark = `sleep 4822.${round}`;
      await output(sandbox, `${mark} >/dev/null 2>&1 &`);
      // The shell answers before its background process has become the program.
      await expect.poll(() => machineOf(mark)).not.toEqual([]);
      const machine = machineOf(mark);
      const steps = ["pause", "resume", "pause", "resume", "resume"].map((verb) => step(sandbox.id, verb));

      await Promise.race(steps);
      killAll(machine);
      for (const told of await Promise.all(steps)) expect(told).toMatch(/^(200|409|410) /);
      await step(sandbox.id, "resume");
      await expect
        .poll(async () => (await api.call("GET", `/sandboxes/${sandbox.id}`)).body.status)
        .toBe("error");
      expect(await step(sandbox.id, "resume")).not.toMatch(/^200/);
      await api.call("DELETE", `/sandboxes/${sandbox.id}`);
    }
  });

  test("ends when its deadline passes", async () => {
    const { id } = await api.create({ timeout_seconds: 1 });
    await step(id, "pause");
    await expect.poll(() => api.told("GET", `/sandboxes/${id}`)).toBe("410 SANDBOX_EXPIRED");
  });
});

describe("get_or_create", () => {
  const asking = (body: object) =>
    ["POST", "/sandboxes", { template_name: "base", get_or_create: true, ...body }] as const;
  const ask = (body: object) => api.call(...asking(body));

  test("of many at once makes one sandbox, and gives everybody a token for it", async () => {
    const told = await Promise.all([1, 2, 3, 4, 5].map(() => ask({ name: "shared" })));
    expect(told.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(told.map(({ body }) => body.id)).size).toBe(1);
    const { status, body } = await api.call("POST", "/sandboxes", { template_name: "base", name: "shared" });
    expect([status, body.code]).toEqual([409, "CONFLICT"]);
    await api.call("DELETE", `/sandboxes/${told[0]?.body.id}`);
  });

  test("gives a stopped or paused one running, with at least the time asked for", async () => {
    const made = (await ask({ name: "sleeper", timeout_seconds: 60 })).body as unknown as CreatedSandbox;
    await output(made, "echo kept > /workspace/a");
    for (const verb of ["stop", "pause"]) {
      await step(made.id, verb);
      const { status, body } = await ask({ name: "sleeper", timeout_seconds: 600 });
      expect([status, body.id, body.status]).toEqual([200, made.id, "running"]);
      expect(Date.parse(String(body.expires_at))).toBeGreaterThan(Date.parse(made.expires_at) + 500_000);
    }
    expect(await output(made, "cat /workspace/a")).toBe("kept\n");
    expect((await ask({ name: "sleeper", template_name: "code-interpreter" })).status).toBe(409);
    await api.call("DELETE", `/sandboxes/${made.id}`);
  });

  test("waits for a step that is under way, and gives the sandbox running", async () => {
    const made = (await ask({ name: "turning" })).body as unknown as CreatedSandbox;
    for (const verbs of [["pause"], ["stop"], ["pause", "stop"]]) {
      for (const verb of verbs.slice(0, -1)) await step(made.id, verb);
      const last = ["POST", `/sandboxes/${made.id}/${verbs.at(-1)}`] as const;
      const [, told] = await api.inOrder(last, asking({ name: "turning" }));
      expect(told, verbs.join()).toMatchObject({ status: 200, body: { id: made.id, status: "running" } });
    }
    const [, , told] = await api.inOrder(
      ["POST", `/sandboxes/${made.id}/stop`],
      ["DELETE", `/sandboxes/${made.id}`],
      asking({ name: "turning" }),
    );
    expect(told).toMatchObject({ status: 201, body: { status: "running" } });
    expect(told?.body.id).not.toBe(made.id);
    await api.call("DELETE", `/sandboxes/${told?.body.id}`);
  });

  test("keeps the sandbox for the others when the caller that made it disconnects", async () => {
    // With limits of its own it is no machine of the pool, so that making it takes a while; how long depends on the machine.
    const limits = { vcpu: 0.5 };
    for (const milliseconds of [20, 40, 80]) {
      const left = new AbortController();
      const first = api.call(...asking({ name: "left", limits }), {}, left.signal).catch(() => undefined);
      const asked = sleep(milliseconds / 2).then(() => ask({ name: "left" }));
      await sleep(milliseconds);
      left.abort();
      await first;
      const { body } = await asked;
      expect((await api.run(body as unknown as CreatedSandbox, "echo there")).body.stdout).toBe("there\n");
      await api.call("DELETE", `/sandboxes/${body.id}`);
    }
  });

  test("of many at once replaces one that has failed by one", async () => {
    const made = (await ask({ name: "failing" })).body as unknown as CreatedSandbox;
    await output(made, "sleep 4821.5 >/dev/null 2>&1 &");
    // Recognise this sandbox's machine by the program that runs in it; the server has other machines too.
    const isMachine = ({ pid }: Pick<HostProcess, "pid">) =>
      descendants(pid).some(({ commandLine }) => commandLine === "sleep 4821.5");
    // Wait for the program: the shell may have ended before the process that it forked executes `sleep`.
    await expect.poll(() => isMachine(server)).toBe(true);
    killAll(descendants(server.pid).filter(isMachine));
    await expect
      .poll(async () => (await api.call("GET", `/sandboxes/${made.id}`)).body)
      .toMatchObject({ status: "error" });
    const told = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ask({ name: "failing" })));
    expect(told.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    const [id, ...others] = new Set(told.map(({ body }) => body.id));
    expect(others).toEqual([]);
    expect(id).not.toBe(made.id);
    await api.call("DELETE", `/sandboxes/${id}`);
  });

  test("needs a name", async () => {
    const { status, body } = await ask({});
    expect([status, body.code]).toEqual([400, "MISSING_PARAMETER"]);
  });
});

describe("the list of sandboxes", () => {
  interface List {
    readonly data: { readonly id: string }[];
    readonly next_cursor?: string;
  }
  const list = async (query: string): Promise<List> =>
    (await api.call<List>("GET", `/sandboxes?${query}`)).body;

  test("is filtered by state, name and labels", async () => {
    const [one, two] = await Promise.all([
      api.create({ name: "one", metadata: { owner: "Zoë & co", stage: "test" } }),
      api.create({ name: "two", metadata: { owner: "Zoë & co" } }),
    ]);
    await step(two.id, "stop");
    const labels = (text: object): string =>
      `metadata=${encodeURIComponent(String(new URLSearchParams(Object.entries(text))))}`;
    const found = async (query: string): Promise<string[]> =>
      (await list(query)).data.map(({ id }) => id).sort();
    expect(await found(labels({ owner: "Zoë & co" }))).toEqual([one.id, two.id].sort());
    expect(await found(labels({ owner: "Zoë & co", stage: "test" }))).toEqual([one.id]);
    expect(await found(`status=stopped&${labels({ owner: "Zoë & co" })}`)).toEqual([two.id]);
    expect(await found("name=one")).toEqual([one.id]);
    expect(await found("name=one&region=elsewhere")).toEqual([]);
    await Promise.all([one, two].map(({ id }) => api.call("DELETE", `/sandboxes/${id}`)));
  });

  test("is read page by page while sandboxes come and go, each that stays once", async () => {
    const made: CreatedSandbox[] = [];
    for (let count = 0; count < 4; count += 1) made.push(await api.create({ metadata: { set: "pages" } }));
    const first = await list("limit=2&metadata=set%3Dpages");
    const gone = first.data[1]?.id;
    await api.call("DELETE", `/sandboxes/${gone}`);
    made.push(await api.create({ metadata: { set: "pages" } }));
    const second = await list(`limit=2&metadata=set%3Dpages&cursor=${first.next_cursor}`);
    const seen = [...first.data, ...second.data].map(({ id }) => id);
    for (const { id } of made.slice(0, 4)) expect(seen.filter((other) => other === id)).toEqual([id]);
    await Promise.all(made.map(({ id }) => api.call("DELETE", `/sandboxes/${id}`)));
  });
});

test("the metrics of a sandbox are streamed until it is gone", async () => {
  const { id } = await api.create();
  const response = await fetch(`${server.url}/v1/sandboxes/${id}/metrics/stream`, {
    headers: { "X-API-Key": server.apiKey },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  let text = "";
  let isDeleted = false;
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    // Count the events: a busy machine may deliver several in one chunk.
    if (isDeleted || text.split("\n\n").length < 3) continue;
    isDeleted = true;
    await api.call("DELETE", `/sandboxes/${id}`);
  }
  const events = text.trim().split("\n\n");
  expect(events.length).toBeGreaterThanOrEqual(2);
  for (const event of events)
    expect(JSON.parse(event.replace(/^data: /, ""))).toMatchObject({ system: expect.any(Object) });
  expect(await api.told("GET", `/sandboxes/${id}/metrics/stream`)).toBe("404 SANDBOX_NOT_FOUND");
});

test.each([
  ["name", { name: "\ud800" }],
  ["name", { name: "a\udc00\ud800b" }],
  ["metadata", { metadata: { a: "\ud800" } }],
  ["metadata", { metadata: { "\ud800": "a" } }],
  ["a name", { "\ud800": 1 }],
])("text that is not valid Unicode is refused in %s", async (field, body) => {
  const answer = await api.call("POST", "/sandboxes", { template_name: "base", ...body });
  expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  expect(answer.body).toMatchObject({ message: expect.stringContaining(`${field} must be well-formed`) });
});

test("requests with wrong keys do not count for the account's own key", async () => {
  const limited = await startLocalServer({ args: ["--pool", "0", "--rate-limit", "3"] });
  try {
    const caller = new ControlPlaneCaller(limited);
    const tryKey = async (key: string): Promise<number> =>
      (await caller.call("GET", "/sandboxes", undefined, { "X-API-Key": key })).status;
    for (let count = 0; count < 1000; count += 1) expect(await tryKey(`invented-${count}`)).toBe(401);
    const beyond = [];
    for (let count = 0; count < 4; count += 1) beyond.push(await tryKey(`another-${count}`));
    expect(beyond).toContain(429);
    const { status, headers } = await caller.call("GET", "/sandboxes");
    expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, "2"]);
  } finally {
    await limited.stop();
  }
});

test("requests above the rate limit are refused, with the time to wait", async () => {
  const limited = await startLocalServer({ args: ["--pool", "0", "--rate-limit", "3"] });
  try {
    const caller = new ControlPlaneCaller(limited);
    const told = [];
    for (let count = 0; count < 4; count += 1) told.push(await caller.call("GET", "/sandboxes"));
    expect(told.map(({ status, headers }) => [status, headers.get("x-ratelimit-remaining")])).toEqual([
      [200, "2"],
      [200, "1"],
      [200, "0"],
      [429, "0"],
    ]);
    const [{ headers, body } = { headers: new Headers(), body: {} }] = told.slice(-1);
    const seconds = Number(headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(Math.abs(Number(headers.get("x-ratelimit-reset")) - Date.now() / 1000 - seconds)).toBeLessThan(20);
    expect(body).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      retry_after: seconds,
      error: { details: { retry_after_seconds: seconds } },
    });
    // The server counts requests per key.
    expect((await caller.call("GET", "/sandboxes", undefined, { "X-API-Key": "other" })).status).toBe(401);
  } finally {
    await limited.stop();
  }
});

const isMachine = ({ commandLine }: { commandLine: string }): boolean => commandLine.includes("agent.mjs");

/** Processor time, in clock ticks, of descendants of a process whose command line begins with `name`. */
function processorTicks(root: number, name: string): number {
  const programs = descendants(root).filter(({ commandLine }) => commandLine.startsWith(name));
  return programs.reduce((sum, { pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return sum + Number(fields[11]) + Number(fields[12]);
  }, 0);
}
