import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leftovers, uidLeases } from "../chaos/leftovers.js";
import { ControlPlaneCaller, type Told } from "../support/control-plane-caller.js";
import { descendants } from "../support/host-processes.js";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";

type Answer = Record<string, unknown>;

/** Fields of a result that differ in each run. */
const ownFields = ["id", "execution_id", "timestamp", "execution_time"];

/** An answer without what is of one run, to which belongs the agent's directory with the file of bash code. */
function comparable(answer: Answer): Answer {
  const { stderr, ...rest } = Object.fromEntries(
    Object.entries(answer).filter(([name]) => !ownFields.includes(name)),
  );
  if (typeof stderr !== "string") return { ...rest, stderr };
  const told = stderr.replaceAll(/\/tmp\/\.cloud-sandbox-\w+\/run-\w+\//g, "/tmp/");
  return { ...rest, stderr: told, ...(told !== stderr && { stderr_bytes: Buffer.byteLength(told) }) };
}

/**
 * A shell command that sends requests through the HTTP and the SOCKS proxy. Documentation has 192.0.2.1 for itself, so
 * nothing is reached.
 */
const reaching =
  "curl -sS --noproxy '' http://192.0.2.1/; curl -sS --noproxy '' --proxy socks5h://127.0.0.1:1080 http://192.0.2.1/";

const printed: object = { code: "print(42)" };

const programs: Readonly<Record<string, object>> = {
  "a printed text": printed,
  "the last expression": { code: "x = 6\nx * 7" },
  "a traceback": { code: "def f():\n    return 1 / 0\n\nf()" },
  "an exit code": { code: "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)" },
  "a syntax error": { code: "print(" },
  "a null byte": { code: "print(1)\0" },
  "what a top-level await gives": { code: "import asyncio\nawait asyncio.sleep(0)\n'waited'" },
  "displayed values": {
    code: "class Page:\n    __repr__ = lambda self: 'a page'\n    _repr_html_ = lambda self: '<b>page</b>'\ndisplay(Page())\ndisplay({'application/json': [1]}, raw=True)\nPage()",
  },
  "displayed values that nobody wants": {
    code: "class Page:\n    __repr__ = lambda self: 'a page'\n    _repr_html_ = lambda self: '<b>page</b>'\nPage()",
    capture_rich: false,
  },
  "too many displayed values": {
    code: "for number in range(70): display({'text/html': str(number)}, raw=True)",
  },
  "an interpreter that was left at once": { code: "import os\nprint('before', flush=True)\nos._exit(7)" },
  "an interpreter that a signal killed": { code: "import os\nos.kill(os.getpid(), 11)" },
  "a time limit": { code: "import time\nprint('began')\ntime.sleep(60)", timeout: 1 },
  "a time limit that the code ignores": {
    code: "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)",
    timeout: 1,
  },
  "its directory, user and files": {
    code: "import os\nprint(os.getcwd(), os.getuid(), os.listdir('.'), sorted(os.listdir('/')))\nopen('/tmp/a', 'w').close()\nopen('/var/tmp/b', 'w').close()",
  },
  "its environment": {
    code: "import os\nprint({name: value for name, value in sorted(os.environ.items()) if name != 'CLOUD_SANDBOX_EXECUTION_ID'})",
    env: { OWN: "value", PYTHONHASHSEED: "1" },
  },
  "its limits": {
    code: "import resource\nprint([resource.getrlimit(limit) for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_CORE)])",
    limits: { memory_mb: 200 },
  },
  "a memory error": { code: "x = bytearray(400 * 2**20)", limits: { memory_mb: 200 } },
  "an output that is too long": {
    code: "import sys\nsys.stdout.write('x' * 3_000_000)\nsys.stderr.write('é' * 10)",
  },
  "bytes that are no text": { code: "import os\nos.write(1, b'a\\xffb')" },
  "JavaScript's outputs": { language: "js", code: "console.log('out'); console.error('err'); [1, 'two']" },
  "JavaScript's error": { language: "node", code: "function f() { throw new TypeError('no') }\nf()" },
  "JavaScript's exit code": { language: "javascript", code: "process.exit(5)" },
  "JavaScript that imports": { language: "javascript", code: "import os from 'node:os';\nos.EOL" },
  "JavaScript's time limit": { language: "javascript", code: "for (;;);", timeout: 1 },
  "bash's outputs": { language: "bash", code: "echo out; echo err > /dev/stderr; exit 4" },
  "an output of bash's child that is too long": {
    language: "bash",
    code: "head -c 3000000 /dev/zero | tr '\\0' x; echo $?",
  },
  "bash that reads nothing": { language: "sh", code: "cat; echo $# done" },
  "bash's directory": { language: "bash", code: "pwd; env | grep PWD; echo kept > file; ls" },
  "bash's time limit": { language: "shell", code: "echo began; sleep 60", timeout: 1 },
  "bash that a program of it was killed in": {
    language: "bash",
    code: "{ sh -c 'kill -9 $$'; } 2> /dev/null; echo $?",
  },
  "bash code that is too long for a variable": {
    language: "bash",
    code: `: ${"x".repeat(150_000)}\necho long`,
  },
  "a destination that the proxy refuses": { code: reaching, language: "bash" },
  "no internet access": { code: reaching, language: "bash", internet_access: false },
  "a destination that is not on its list": {
    code: reaching,
    language: "bash",
    egress: { allow: ["192.0.2.2"] },
  },
  "Python that asks the proxy": {
    code: "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/')",
  },
  "JavaScript that asks the proxy": {
    code: "try { await fetch('https://192.0.2.1/') } catch ({ cause }) { cause.message }",
    language: "javascript",
  },
  "lists without internet access": { code: "1", internet_access: false, egress: { deny: ["192.0.2.2"] } },
  "a list that is none": { code: "1", egress: { allow: ["a b"] } },
  "another directory": { code: "import os; os.getcwd()", workdir: "/tmp" },
  "a directory that is not there": { code: "1", workdir: "/nowhere" },
  "another PATH": { code: "1", env: { PATH: "/nowhere" } },
  "a language that there is not": { code: "1", language: "cobol" },
  "limits that this machine has not": { code: "1", limits: { memory_mb: 1_000_000 } },
  "an isolation that there is not": { code: "1", min_isolation: "microvm" },
  "a template that there is not": { code: "1", template_name: "nothing" },
  "a variable that has no name": { code: "1", env: { "a=b": "c" } },
};

describe.each<StartedBy>(["root", "an ordinary user"])("a program run by a server of %s", (who) => {
  const obstacle = cannotStartAs(who);
  let server: LocalServer;
  let caller: ControlPlaneCaller;
  /** A server with interpreters that wait. */
  let ready: LocalServer;
  let readyCaller: ControlPlaneCaller;
  const run = async (body: object, headers = {}): Promise<Told<Answer>> =>
    caller.call("POST", "/executions", body, { "x-request-id": "a-program", ...headers });
  let path: unknown;
  /** Runs a program in a machine with an agent: a variable PATH makes the server start one. */
  const withAgent = async (body: { readonly env?: object }) =>
    run({ ...body, env: { PATH: path, ...body.env } });

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    server = await startLocalServer({ who, args: ["--pool", "0"] });
    caller = new ControlPlaneCaller(server);
    // Run a program first: the server makes directories that all programs share when the first one runs.
    path = (await run({ code: "printf %s $PATH", language: "bash" })).body.stdout;
    await withAgent(printed);
    ready = await startLocalServer({ who, args: ["--pool", "1"] });
    readyCaller = new ControlPlaneCaller(ready);
    // From now on one waits for JavaScript too.
    await readyCaller.call("POST", "/executions", { code: "1", language: "javascript" });
  });
  afterAll(async () => {
    if (server === undefined) return;
    for (const each of [server, ready]) await each.stop();
    expect(leftovers(new Set([server.pid, ready.pid]))).toEqual([]);
  });

  /** Runs a program when an interpreter waits for it, unless its language has none that wait. */
  async function waited(body: { readonly code?: string; readonly language?: string }): Promise<Told<Answer>> {
    const command = body.language === "javascript" ? /^node .*-e/ : /^python3 .*python-driver/s;
    const isWaiting = (): boolean =>
      descendants(ready.pid).some(({ commandLine }) => command.test(commandLine));
    if (body.language !== "bash") await expect.poll(isWaiting, { timeout: 20_000 }).toBe(true);
    return readyCaller.call("POST", "/executions", body, { "x-request-id": "a-program" });
  }

  /** Expects that nothing of any program is left: no process, no uid, no sandbox. */
  const nothingLeft = async (): Promise<void> => {
    const left = (): string[] => [
      ...descendants(server.pid)
        .map(({ commandLine }) => commandLine)
        .filter((line) => !/cloud-sandbox-guard|proxy-ports|program-launcher/.test(line)),
      ...uidLeases(server.pid),
    ];
    await expect.poll(left).toEqual([]);
    expect((await caller.call<{ data: object[] }>("GET", "/sandboxes")).body.data).toEqual([]);
  };

  test.for(Object.entries(programs))(
    "gives the same result with an agent, without one, and in an interpreter that waited: %s",
    async ([, body], { skip }) => {
      skip(obstacle !== undefined, obstacle);
      const [without, other] = [await run(body), await withAgent(body)];
      const waiting = await waited(body);
      expect({ ...without, body: comparable(without.body) }).toEqual({
        ...other,
        headers: without.headers,
        body: comparable(other.body),
      });
      expect(comparable(waiting.body)).toEqual(comparable(without.body));
      await nothingLeft();
    },
  );

  test("has the advice of an agent's refusal once", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const { body } = await caller.call("POST", "/executions", { code: "1", env: { PATH: "/nowhere" } });
    expect(String(body.message).match(/Keep the directories/g)).toHaveLength(1);
  });

  const hostile: Readonly<Record<string, readonly [program: object, answer: object]>> = {
    "has 16 MiB of code": [
      { code: `#${"x".repeat(16 * 2 ** 20)}\nprint('ran')` },
      { exit_code: 0, stdout: "ran\n" },
    ],
    "prints for ever": [
      { code: "while True: print('x' * 1000)", timeout: 2 },
      { exit_code: 124, termination_reason: "timeout", stdout_truncated: true },
    ],
    "writes ten thousand times": [
      { code: "import os\nfor number in range(10_000): _ = os.write(1 + number % 2, b'%d\\n' % number)" },
      { exit_code: 0, stdout: expect.stringMatching(/^0\n(\d*[02468]\n){4998}9998\n$/) },
    ],
    "leaves a process that holds its outputs": [
      { code: "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nprint('left')" },
      { exit_code: 0, stdout: "left\n" },
    ],
    "is bash, and leaves processes": [
      { language: "bash", code: "setsid sleep 1000 & sleep 1000 & echo left" },
      { exit_code: 0, stdout: "left\n" },
    ],
    "ends its interpreter and leaves a process": [
      { code: "import os, time\nif os.fork() == 0: time.sleep(1000)\nos._exit(9)" },
      { exit_code: 9 },
    ],
    "writes garbage where the driver reports": [
      { code: "import os, time\nos.write(3, b'\\xff' * 64)\ntime.sleep(60)" },
      { exit_code: 137, stderr: expect.stringContaining("it wrote to file descriptor 3") },
    ],
    "announces a report that never comes": [
      { code: "import os, time\nos.write(3, bytes([0, 16, 0, 0]) + b'D')\ntime.sleep(60)", timeout: 1 },
      { exit_code: 124 },
    ],
    "reports values for ever": [
      { code: "import os\nwhile True: os.write(3, b'\\0\\0\\0\\5Da\\0bc')", timeout: 20 },
      { exit_code: 137, stderr: expect.stringContaining("it wrote to file descriptor 3") },
    ],
    "closes all descriptors": [
      { code: "import os\nos.closerange(0, 64)\nos._exit(5)" },
      { exit_code: 5, stdout: "" },
    ],
    "closes the driver's descriptor and goes on": [
      { code: "import os\nos.close(3)\nprint('on', flush=True)\nraise SystemExit(6)" },
      { exit_code: 6, stdout: "on\n" },
    ],
    "fakes its end": [
      { code: "import os\nos.write(3, b'\\0\\0\\0\\4E0 0')\nprint('on')\nraise SystemExit(6)" },
      { exit_code: 6, termination_reason: "exit", stdout: "on\n" },
    ],
    "fakes an exit code": [
      { code: "import os\nos.write(3, b'\\0\\0\\0\\x0cE99999999 -1')\nraise SystemExit(6)" },
      { success: false, exit_code: 6 },
    ],
    "fakes a result": [
      { code: "import os\n_ = os.write(3, b'\\0\\0\\0\\5Rfake')" },
      { exit_code: 0, result: "fake" },
    ],
    "kills process 1, all others and itself": [
      {
        code: "import os, signal\nos.kill(1, signal.SIGKILL)\nprint('on', flush=True)\nos.kill(-1, signal.SIGKILL)",
      },
      { stdout: "on\n" },
    ],
    "forks for ever": [
      { code: "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", timeout: 2 },
      { exit_code: 124 },
    ],
    "fills its disk": [
      { language: "bash", code: "head -c 8G /dev/zero > /tmp/full; echo $?; ls /workspace" },
      { stdout: "1\n" },
    ],
    "stops itself": [
      { code: "import os\nprint('on', flush=True)\nos.kill(os.getpid(), 19)\nprint('later')", timeout: 1 },
      { exit_code: 124, termination_reason: "timeout", stdout: "on\n" },
    ],
    "sends the server descriptors": [
      {
        code: `import array, os, socket
channel, files = socket.socket(fileno=os.dup(3)), array.array("i", [os.open("/dev/null", 0)] * 200)
try:
    for _ in range(100): channel.sendmsg([b"\\0\\0\\0\\2Ra"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
except OSError: pass
print("sent", flush=True)
os._exit(0)`,
      },
      { stdout: expect.stringMatching(/^(sent\n)?$/) },
    ],
    "makes the pipe of its output larger, and never waits for it": [
      {
        code: `import fcntl, os
try: fcntl.fcntl(1, 1031, 2 ** 20)
except OSError: pass  # The user whom the kernel counts it for has enough of them.
_ = fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)
print("larger")`,
      },
      { exit_code: 0, stdout: "larger\n" },
    ],
    "takes its outputs away from the next": [
      { language: "bash", code: "chmod 0 /proc/self/fd/1 /proc/self/fd/2; echo done" },
      { exit_code: 0 },
    ],
  };

  test.for(Object.entries(hostile))(
    "gets its own answer and leaves nothing where it %s",
    async ([, [body, answer]], { skip }) => {
      skip(obstacle !== undefined, obstacle);
      const { status, body: told } = await run(body);
      expect({ status, ...told, stdout: told.stdout }).toMatchObject({ status: 200, ...answer });
      expect(String(told.stdout).length).toBeLessThan(1.1 * 2 ** 20);
      expect((await run({ code: "print('after')" })).body).toMatchObject({
        stdout: "after\n",
        exit_code: 0,
      });
      await nothingLeft();
    },
  );

  test("sees neither files nor processes of another program", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const code = `import os, time
for place in '/tmp', '/workspace', '/home/sandbox', '/dev/shm': open(place + '/mine', 'x').close()
time.sleep(0.5)
print(sorted(name for name in os.listdir('/proc') if name.isdigit()), os.listdir('/workspace'))`;
    const answers = await Promise.all(Array.from({ length: 4 }, () => run({ code })));
    for (const { body } of answers)
      expect(body).toMatchObject({ stdout: "['1', '2'] ['mine']\n", exit_code: 0 });
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(4);
    await nothingLeft();
  });

  test("reads nothing of the host in the environment of its process 1", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    expect((await run({ language: "bash", code: "cat /proc/1/environ" })).body).toMatchObject({
      stdout: "",
      exit_code: 0,
    });
  });

  test("is killed when its caller goes away, and is not run again", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const gone = new AbortController();
    const request = {
      method: "POST",
      headers: { "X-API-Key": server.apiKey, "Idempotency-Key": "gone" },
      body: JSON.stringify({ code: "import time; time.sleep(1000)", timeout: 300 }),
    };
    const asked = fetch(`${server.url}/v1/executions`, { ...request, signal: gone.signal });
    const runs = () =>
      descendants(server.pid).filter(({ commandLine }) => commandLine.startsWith("python3 -c"));
    await expect.poll(runs).toHaveLength(1);
    gone.abort();
    await expect(asked).rejects.toThrow();
    await nothingLeft();
    const again = await fetch(`${server.url}/v1/executions`, request);
    expect([again.status, await again.json()]).toMatchObject([409, { code: "CONFLICT" }]);
  });

  test("leaves no pipe open where it needs an agent", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const { body } = await run({ language: "javascript", code: "import os from 'node:os';\nos.EOL.length" });
    expect(body).toMatchObject({ result: "1" });
    await expect.poll(() => openPipes(server.pid)).toEqual([]);
  });

  test("tells nothing to the process that it was forked from, and ends with it", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const [variable, code] = ["a-value-of-one-program", "import os; os.system('sleep 1000') # its-own-code"];
    const asked = run({ code, env: { OWN: variable }, timeout: 300 });
    const all = () => descendants(server.pid);
    await expect.poll(() => all().filter(({ commandLine }) => commandLine === "sleep 1000")).toHaveLength(1);
    const [launcher] = all().filter(({ commandLine }) => commandLine.startsWith("program-launcher"));
    const memory = heapOf(launcher?.pid ?? 0);
    expect(memory).toContain("program-launcher");
    for (const text of [variable, "its-own-code"]) expect(memory).not.toContain(text);
    process.kill(launcher?.pid ?? 0, "SIGKILL");
    expect((await asked).body).toMatchObject({ success: false });
    expect((await run({ code: "print('again')" })).body).toMatchObject({ stdout: "again\n", exit_code: 0 });
    await nothingLeft();
  });

  test("waits for its turn: of very many at once, each gets its own answer", async ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    const numbers = Array.from({ length: 60 }, (_, number) => number);
    const answers = await Promise.all(numbers.map((number) => run({ code: `print(${number})` })));
    expect(answers.map(({ body }) => body.stdout)).toEqual(numbers.map((number) => `${number}\n`));
    await nothingLeft();
  });
});

/** The pipes for the output of programs that a server has open. */
function openPipes(server: number): string[] {
  const place = `/proc/${server}/fd`;
  return readdirSync(place).flatMap((number) => {
    try {
      const target = readlinkSync(`${place}/${number}`);
      return target.includes("/pipes/pipe-") ? [target] : [];
    } catch {
      // The descriptor was closed while the list was read.
      return [];
    }
  });
}

test.for<StartedBy>(["root", "an ordinary user"])(
  "nothing is left of the programs of a server of %s that was killed while they ran",
  async (who, { skip }) => {
    const obstacle = cannotStartAs(who);
    skip(obstacle !== undefined, obstacle);
    const server = await startLocalServer({ who, args: ["--pool", "0"] });
    const caller = new ControlPlaneCaller(server);
    const sleeping = { code: "import time; time.sleep(1000)", timeout: 300 };
    const running = Array.from({ length: 6 }, () =>
      caller.call("POST", "/executions", sleeping).catch(() => undefined),
    );
    const runs = () =>
      descendants(server.pid).filter(({ commandLine }) => commandLine.startsWith("python3 -c"));
    await expect.poll(() => runs().length).toBeGreaterThan(3);
    await server.stop("SIGKILL");
    await Promise.all(running);
    await expect.poll(() => leftovers(new Set([server.pid]))).toEqual([]);
  },
);

/** What a process has in the memory that it allocates. */
function heapOf(pid: number): string {
  const [, from = "", to = ""] =
    /^([0-9a-f]+)-([0-9a-f]+) .*\[heap\]$/m.exec(readFileSync(`/proc/${pid}/maps`, "utf8")) ?? [];
  const start = Number.parseInt(from, 16);
  const heap = Buffer.alloc(Number.parseInt(to, 16) - start);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  readSync(memory, heap, 0, heap.length, start);
  closeSync(memory);
  return heap.toString("latin1");
}
