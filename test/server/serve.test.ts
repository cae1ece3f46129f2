import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { root } from "../support/documents/code-blocks.js";
import { descendants, type HostProcess, hostProcesses } from "../support/host-processes.js";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";
import { ordinaryUid } from "../support/ordinary-user-caches.js";

describe("cloud-sandbox-local serve", () => {
  /** A server for tests that neither start nor stop one. */
  let shared: LocalServer;
  beforeAll(async () => {
    shared = await startLocalServer({ apiKey: "k", args: ["--pool", "0"] });
  });
  afterAll(() => shared.stop());

  test("accepts the key in both headers, and refuses requests without it", async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${shared.url}/v1/sandboxes`, { headers })).status;
    expect(await status({ "X-API-Key": "k" })).toBe(200);
    expect(await status({ Authorization: "Bearer k" })).toBe(200);
    expect(await status({ "X-API-Key": "K" })).toBe(401);
    expect(await status({ Authorization: "Basic k" })).toBe(401);
    expect(await status({})).toBe(401);
  });

  test("words errors so that every client can read them", async () => {
    const response = await fetch(`${shared.url}/v1/sandboxes/none`, {
      headers: { "X-API-Key": shared.apiKey },
    });
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(404);
    expect(body).toMatchObject({
      code: "SANDBOX_NOT_FOUND",
      message: expect.stringMatching(/Sandbox .* not found/),
      request_id: response.headers.get("x-request-id"),
      error: { code: "SANDBOX_NOT_FOUND", message: body.message, request_id: body.request_id },
    });
  });

  test.for<StartedBy>(["root", "an ordinary user"])(
    "started by %s starts sandboxes where the directory for temporary files is closed to other users",
    async (who, { skip }) => {
      const obstacle = cannotStartAs(who);
      skip(obstacle !== undefined, obstacle);
      const closed = mkdtempSync(join(tmpdir(), "closed-"));
      const inside = join(closed, "inside");
      mkdirSync(inside);
      if (who !== "root" && process.getuid?.() === 0)
        for (const path of [closed, inside]) chownSync(path, ordinaryUid, ordinaryUid);
      const server = await startLocalServer({ who, args: ["--pool", "0"], env: { TMPDIR: inside } });
      try {
        await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
        await using sandbox = await client.sandboxes.create({ template: "base" });
        expect((await sandbox.commands.run("echo here")).stdout).toBe("here\n");
      } finally {
        await server.stop();
      }
      expect(readdirSync(inside)).toEqual([]);
      rmSync(closed, { recursive: true });
    },
  );

  test.each(["SIGTERM", "SIGINT"] as const)(
    "on %s deletes its sandboxes, stops and leaves nothing",
    async (signal) => {
      const server = await startLocalServer({ args: ["--pool", "2"] });
      await create(server);
      const machines = descendants(server.pid);
      expect(machines.length).toBeGreaterThan(2);
      expect(await server.stop(signal)).toEqual({ code: 0, signal: null });
      expect(running(machines)).toEqual([]);
      expect(leftovers(server.pid)).toEqual([]);
      // It says how sandboxes reach the internet, and nothing else.
      expect(server.log()).toMatch(/^Internet access of sandboxes .*: on\.\n$/);
    },
  );

  test("killed at once leaves nothing running, and the next start clears what it had no time to", async () => {
    const server = await startLocalServer({ args: ["--pool", "2"] });
    await create(server);
    const machines = descendants(server.pid);
    expect(machines.length).toBeGreaterThan(2);
    await server.stop("SIGKILL");
    await expect.poll(() => running(machines)).toEqual([]);
    const next = await startLocalServer({ args: ["--pool", "1"] });
    await create(next);
    expect(leftovers(server.pid)).toEqual([]);
    await next.stop();
  });

  test("starts agents with the compiled code that the server before it kept", async () => {
    const caches = mkdtempSync(join(tmpdir(), "caches-"));
    const kept = join(caches, "cloud-sandbox-local");
    const startAndStop = async (): Promise<Record<string, number>> => {
      const server = await startLocalServer({ args: ["--pool", "0"], env: { XDG_CACHE_HOME: caches } });
      await create(server);
      await server.stop();
      const names = entries(kept).filter((name) => name.startsWith("agent-"));
      return Object.fromEntries(names.map((name) => [name, statSync(join(kept, name)).mtimeMs]));
    };
    try {
      const first = await startAndStop();
      expect(Object.keys(first)).toEqual([expect.stringMatching(/^agent-\w+\.kept$/)]);
      expect(await startAndStop()).toEqual(first);
    } finally {
      rmSync(caches, { recursive: true });
    }
  });

  test("killed while machines are being made leaves none of them", {
    timeout: 240_000,
  }, async () => {
    for (const who of ["root", "an ordinary user"] as const) {
      if (cannotStartAs(who) !== undefined) continue;
      for (const delayMs of [20, 60, 120]) {
        const server = await startLocalServer({ who, args: ["--pool", "4"] });
        const creates = Array.from({ length: 6 }, () =>
          post(server, { template_name: "base" }).catch(() => undefined),
        );
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        await server.stop("SIGKILL");
        await Promise.all(creates);
        // The command line of every process of a machine contains the name of the server's instance, from the first
        // process on.
        const left = (): string[] =>
          hostProcesses()
            .map(({ commandLine }) => commandLine)
            .filter((line) => line.includes(`/cloud-sandbox-${server.pid}-`));
        await expect.poll(left).toEqual([]);
        await expect.poll(() => leftovers(server.pid)).toEqual([]);
      }
    }
  });

  test("killed at once leaves no paused sandbox behind either", async () => {
    const server = await startLocalServer({ args: ["--pool", "0"] });
    const { id } = (await (await post(server, { template_name: "base" })).json()) as { id: string };
    const paused = await fetch(`${server.url}/v1/sandboxes/${id}/pause`, {
      method: "POST",
      headers: { "X-API-Key": server.apiKey },
    });
    expect(paused.status).toBe(200);
    const machines = descendants(server.pid);
    expect(machines.length).toBeGreaterThan(2);
    await server.stop("SIGKILL");
    await expect.poll(() => running(machines)).toEqual([]);
  });

  test("refuses a sandbox beyond its limit, and says how to get one", async () => {
    const server = await startLocalServer({ args: ["--pool", "0", "--max-sandboxes", "1"] });
    try {
      await create(server);
      const response = await post(server, { template_name: "base" });
      expect(response.status).toBe(429);
      expect(await response.text()).toContain("Delete a sandbox first");
    } finally {
      await server.stop();
    }
  });

  test("makes one sandbox of a create that is repeated with the same key", async () => {
    const repeat = async (body: object): Promise<Response> =>
      post(shared, body, { "Idempotency-Key": "once" });
    const [first, second] = await Promise.all([
      repeat({ template_name: "base" }),
      repeat({ template_name: "base" }),
    ]);
    expect(((await first.json()) as { id: string }).id).toBe(((await second.json()) as { id: string }).id);
    expect((await repeat({ template_name: "base", timeout_seconds: 5 })).status).toBe(409);
  });

  test.each([
    [
      "an entry that is no destination",
      { internet_access: true, egress: { deny: ["a b"] } },
      "egress.deny[0]",
    ],
    [
      "a list for a sandbox without internet access",
      { internet_access: false, egress: { allow: ["pypi.org"] } },
      "internet_access",
    ],
    ["a list that is none", { internet_access: true, egress: { allow: "pypi.org" } }, "egress.allow"],
  ])("refuses %s", async (_, egress, hint) => {
    const response = await post(shared, { template_name: "base", ...egress });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(hint);
  });

  test.each(["container", "gvisor", "microvm"])(
    "refuses isolation %s, which it does not have",
    async (level) => {
      const response = await post(shared, { template_name: "base", min_isolation: level });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("ISOLATION_UNAVAILABLE");
    },
  );

  test("says which port is in use, and what to do", async () => {
    const { port } = new URL(shared.url);
    const second = await runBuilt("local", ["serve", "--port", port]);
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toMatch(new RegExp(`^cloud-sandbox-local: .*\\b${port} is in use.*--port 0.*\n$`));
  });

  test.each([
    ["a port that there is not", ["--port", "70000"], "whole number from 0 to 65535"],
    ["a runtime that there is not", ["--runtime", "podman"], "auto, bubblewrap, docker"],
    ["an option that there is not", ["--pots", "4"], "--pool"],
    ["a destination that is none", ["--egress-deny", "a b"], "not a valid destination"],
    [
      "sandboxes left running that nobody adopts",
      ["--leave-running"],
      "runtimes docker and kubernetes with a data directory",
    ],
    [
      "options of another runtime",
      ["--runtime", "bubblewrap", "--kubernetes-image", "a", "--kubernetes-sandboxes", "pods"],
      "Set --runtime kubernetes, or leave --kubernetes-image and --kubernetes-sandboxes out.",
    ],
    [
      "options of docker with another runtime",
      ["--runtime", "bubblewrap", "--docker-image", "a", "--docker-runtime", "runsc"],
      "Set --runtime docker, or leave --docker-image and --docker-runtime out.",
    ],
    [
      "records in no cluster",
      ["--kubernetes-records"],
      "Only the runtime kubernetes has --kubernetes-records",
    ],
    ["an empty key", ["--api-key="], "leave --api-key out for a random one"],
    ["a proxy that is none", ["--egress-upstream-proxy", "socks5://proxy"], "http: URL"],
  ])("refuses %s in one line", async (_, args, hint) => {
    const { code, stderr } = await runBuilt("local", ["serve", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(hint);
    expect(stderr).toMatch(/^cloud-sandbox-local: .*\n$/);
  });
});

test("the README lists the options of serve as its help does", async () => {
  const { stdout } = await runBuilt("local", ["serve", "--help"]);
  const help = stdout.split(/\n(?=\w.*:\n)/).map((part) => ({
    group: part.split(":\n")[0],
    options: [...part.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option).sort(),
  }));
  const page = readFileSync(join(root, "packages/local/README.md"), "utf8");
  const text = page.split("## Options of serve\n")[1]?.split(/\n## /)[0] ?? "";
  const tables = text.split(/^### /m).map((part) => ({
    group: part.split("\n")[0],
    options: part
      .split("\n")
      .flatMap((line) => [...(line.match(/^\| (`--.*?) \|/)?.[1]?.matchAll(/--[a-z-]+/g) ?? [])].map(String))
      .sort(),
  }));
  expect(tables.slice(1)).toEqual(help.filter(({ options }) => options.length > 0));
  expect(tables.length).toBeGreaterThan(5);
});

describe("a machine without a runtime", () => {
  test("is told what to install, by serve and by doctor, and nothing is started", async () => {
    const directory = mkdtempSync(join(tmpdir(), "no-runtime-"));
    try {
      for (const name of ["sh", "true", "setpriv"]) symlinkSync(`/usr/bin/${name}`, join(directory, name));
      const env = { PATH: directory, DOCKER_HOST: "unix:///nowhere/docker.sock" };
      const serve = await runBuilt("local", ["serve"], { env });
      expect(serve).toMatchObject({ code: 1, stdout: "" });
      expect(serve.stderr).toMatch(/^cloud-sandbox-local: .*\n$/);
      for (const part of [
        "apt-get install bubblewrap",
        "No Docker daemon answers at unix:///nowhere/docker.sock",
      ])
        expect(serve.stderr).toContain(part);
      const doctor = await runBuilt("local", ["doctor"], { env });
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toContain("apt-get install bubblewrap");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

test.each([
  ["mount", /! the root of a sandbox is read-only.*: mount is not installed: .*"apt-get install mount"/],
  ["unshare", /! the root of a sandbox is read-only.*: unshare is not installed: .*install util-linux"/],
])("a machine without %s is told so, and not that its kernel is to blame", async (absent, said) => {
  const directory = mkdtempSync(join(tmpdir(), "few-programs-"));
  try {
    chmodSync(directory, 0o755);
    for (const name of ["sh", "bwrap", "setpriv", "nsenter", "unshare", "mount", "mkdir"])
      if (name !== absent) symlinkSync(`/usr/bin/${name}`, join(directory, name));
    const { stdout } = await runBuilt("local", ["doctor"], { env: { PATH: directory } });
    expect(stdout).toMatch(said);
    expect(stdout).not.toContain("kernel does not allow overlay");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a Node.js that cannot change its user is told so to root, and starts sandboxes for others", {
  tags: ["root"],
}, async () => {
  const NODE_OPTIONS =
    "--import=data:text/javascript,process.setegid=()=>{throw(Error(%22setegid()%20disabled%22))}";
  const env = { NODE_OPTIONS, DOCKER_HOST: "unix:///nowhere/docker.sock" };
  for (const command of ["serve", "doctor"]) {
    const { code, stdout, stderr } = await runBuilt("local", [command], { env });
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/cannot change its user \(setegid\(\) disabled\).*ordinary user/s);
  }
  const server = await startLocalServer({ who: "an ordinary user", args: ["--pool", "0"], env });
  try {
    await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    expect((await client.executeIsolated("print(42)")).stdout).toBe("42\n");
  } finally {
    await server.stop();
  }
});

describe("a CPU that there is no system call filter for", () => {
  const NODE_OPTIONS =
    "--import=data:text/javascript,Object.defineProperty(process,%22arch%22,{value:%22riscv64%22})";
  const env = { NODE_OPTIONS, DOCKER_HOST: "unix:///nowhere/docker.sock" };

  test("starts no sandbox, and serve and doctor say what to do", async () => {
    const serve = await runBuilt("local", ["serve"], { env });
    expect(serve).toMatchObject({ code: 1, stdout: "" });
    expect(serve.stderr).toMatch(/no system call filter for riscv64.*--without-system-call-filter/);
    expect(serve.stderr).not.toContain("    at ");
    const doctor = await runBuilt("local", ["doctor"], { env });
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/✗ bubblewrap: .*riscv64.*\n {2}To fix it: .*--without-system-call-filter/);
  });

  test("starts sandboxes without one when that is asked for, and never on another CPU", async () => {
    const filterInside = async (environment: Record<string, string>): Promise<string> => {
      const server = await startLocalServer({ args: ["--without-system-call-filter"], env: environment });
      await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      try {
        const { stdout } = await client.executeIsolated("grep ^Seccomp: /proc/self/status", {
          language: "bash",
        });
        return stdout;
      } finally {
        await server.stop();
      }
    };
    expect(await filterInside(env)).toBe("Seccomp:\t0\n");
    expect(await filterInside({})).toBe("Seccomp:\t2\n");
  });
});

describe("cloud-sandbox-local doctor", () => {
  test("says what can be isolated here, how, and for which languages", async () => {
    const { code, stdout, stderr } = await runBuilt("local", ["doctor", "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const report = JSON.parse(stdout) as {
      usable: boolean;
      runtimes: object[];
      languages: { language: string }[];
      egress: object;
    };
    expect(report.usable).toBe(true);
    expect(report.runtimes).toEqual([
      expect.objectContaining({ runtime: "bubblewrap", usable: true, isolation: "namespace" }),
      expect.objectContaining({ runtime: "docker" }),
    ]);
    expect(report.languages.map(({ language }) => language)).toEqual(
      expect.arrayContaining(["python", "javascript", "bash"]),
    );
    expect(report.egress).toMatchObject({
      internet: "on",
      refused: expect.arrayContaining(["*:25"]),
    });
  });
});

async function create(server: LocalServer): Promise<void> {
  const response = await post(server, { template_name: "code-interpreter" });
  expect(response.status).toBe(201);
  await response.text();
}

function post(server: LocalServer, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/v1/sandboxes`, {
    method: "POST",
    headers: { "X-API-Key": server.apiKey, ...headers },
    body: JSON.stringify(body),
  });
}

/** Those of these processes that still run. */
function running(processes: readonly HostProcess[]): HostProcess[] {
  const now = hostProcesses();
  return processes.filter(({ pid, commandLine }) =>
    now.some((other) => other.pid === pid && other.commandLine === commandLine),
  );
}

/** Lists control groups, directories and uids that a server has left. Their names begin with the server's pid. */
function leftovers(pid: number): string[] {
  const groups = readFileSync("/proc/self/cgroup", "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(":"))
    .map(
      ([, controller = "", own = ""]) =>
        `/sys/fs/cgroup/${controller}${own === "/" ? "" : own}/cloud-sandbox`,
    );
  const directories = [...groups, "/sys/fs/cgroup/cloud-sandbox", tmpdir()];
  const leases = entries("/run/cloud-sandbox-uids").map(leaseOwner);
  const own = new RegExp(`(?:^|cloud-sandbox-|probe-)${pid}-`);
  return [...directories.flatMap(entries), ...leases].filter((name) => own.test(name));
}

/**
 * The server that has leased a uid. Empty if the lease is gone, because servers of other tests release theirs
 * meanwhile.
 */
function leaseOwner(name: string): string {
  try {
    return readlinkSync(`/run/cloud-sandbox-uids/${name}`);
  } catch {
    return "";
  }
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
