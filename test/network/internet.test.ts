import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { InvalidEgressError, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { startLocalServer } from "../support/local-server.js";

/** A server on loopback that stands in for the internet. */
let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer((_request, answer) => answer.end("reached\n")).listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server?.close());

class Place implements AsyncDisposable {
  private constructor(
    readonly client: SandboxClient,
    readonly internet: string,
    private readonly stop: () => Promise<void>,
  ) {}

  static async start(internet?: string): Promise<Place> {
    const names = ["one.test", "other.test"];
    const local = await startLocalControlPlane({
      pool: 1,
      ...(internet !== undefined && { internet }),
      egress: {
        allowPrivate: names.map((name) => `${name}:${port}`),
        resolve: async (name) => (names.includes(name) ? ["127.0.0.1"] : []),
      },
    });
    const client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
    return new Place(client, local.internet, async () => {
      await client.close();
      await local.close();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const curl = (name: string): string => `curl -sS http://${name}.test:${port}/`;

async function asked(sandbox: Sandbox, name: string): Promise<string> {
  return (await sandbox.execute(curl(name), { language: "bash" })).stdout;
}

async function record(client: SandboxClient, { id }: Sandbox): Promise<object | undefined> {
  const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}", { params: { path: { id } } });
  return data;
}

describe("a sandbox whose create says nothing of the internet", { tags: ["curl"] }, () => {
  test("reaches the internet by default, and its record and the log say so", async () => {
    await using place = await Place.start();
    const { client } = place;
    expect(place.internet).toBe("on");
    await using sandbox = await client.sandboxes.create();
    expect(await asked(sandbox, "one")).toBe("reached\n");
    expect(await record(client, sandbox)).toMatchObject({ internet_access: true });
    expect((await client.executeIsolated(curl("one"), { language: "bash" })).stdout).toBe("reached\n");
    const params = { path: { id: sandbox.id }, query: {} };
    const { data } = await client.controlPlane.GET("/v1/sandboxes/{id}/egress", { params });
    expect(data?.data).toMatchObject([{ host: "one.test", decision: "allowed" }]);
    const closed = { language: "bash", internetAccess: false };
    expect((await client.executeIsolated(curl("one"), closed)).stdout).toContain("internet_access: true");
  });

  test("does not reach the internet if the default is off, unless its create asks for it", async () => {
    await using place = await Place.start("off");
    const { client } = place;
    await using sandbox = await client.sandboxes.create();
    expect(await asked(sandbox, "one")).toContain("internet_access: true");
    expect(await record(client, sandbox)).toMatchObject({ internet_access: false });
    await using open = await client.sandboxes.create({ internetAccess: true });
    expect(await asked(open, "one")).toBe("reached\n");
    const open2 = { language: "bash", internetAccess: true };
    expect((await client.executeIsolated(curl("one"), open2)).stdout).toBe("reached\n");
  });

  test("reaches the destinations of the default list, unless it has a list of its own", async () => {
    await using place = await Place.start("allow=ONE.test, *.pythonhosted.org:443");
    const { client } = place;
    const allow = ["one.test", "*.pythonhosted.org:443"];
    for (const options of [{}, { internetAccess: true }]) {
      await using sandbox = await client.sandboxes.create(options);
      expect(await asked(sandbox, "one")).toBe("reached\n");
      expect(await asked(sandbox, "other")).toContain("egress.allow");
      expect(await record(client, sandbox)).toMatchObject({ internet_access: true, egress: { allow } });
    }
    await using own = await client.sandboxes.create({ egress: { allow: ["other.test"] } });
    expect([await asked(own, "other"), await asked(own, "one")]).toEqual([
      "reached\n",
      expect.stringContaining("egress.allow"),
    ]);
    await using closed = await client.sandboxes.create({ internetAccess: false });
    const said = await record(client, closed);
    expect(said).toMatchObject({ internet_access: false });
    expect(said).not.toHaveProperty("egress");
  });
});

test.each(["maybe", "allow=", "allow=a b", "allow=one.test,,", "allow", "on,off"])(
  "the default %o is refused with the values that are possible",
  async (internet) => {
    const start = startLocalControlPlane({ internet, pool: 0 });
    await expect(start).rejects.toThrow(InvalidEgressError);
    await expect(start).rejects.toThrow("allow=pypi.org");
  },
);

test("the variable sets it for a server, whose option comes first, and for doctor", async () => {
  const env = { CLOUD_SANDBOX_INTERNET: "off" };
  const first = await startLocalServer({ args: ["--pool", "0"], env });
  const second = await startLocalServer({ args: ["--pool", "0", "--internet", "allow=pypi.org"], env });
  await Promise.all([first.stop(), second.stop()]);
  expect(first.log()).toMatch(/^Internet access of sandboxes .*: off\.$/m);
  expect(second.log()).toMatch(/^Internet access of sandboxes .*: allow=pypi\.org\.$/m);
  const { stdout } = await runBuilt("local", ["doctor"], { env });
  expect(stdout).toContain("Internet access: off");
  const wrong = await runBuilt("local", ["doctor"], { env: { CLOUD_SANDBOX_INTERNET: "no" } });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("CLOUD_SANDBOX_INTERNET") });
});

describe("cloud-sandbox run", { tags: ["curl"] }, () => {
  const run = ["run", "-l", "bash", "-c", "curl -sS --noproxy '' http://192.0.2.1/"];

  test.each([
    ["by default", [], {}, "not on the public internet"],
    ["where the variable says off", [], { CLOUD_SANDBOX_INTERNET: "off" }, "no internet access"],
    ["where it is asked for", ["--internet", "on"], { CLOUD_SANDBOX_INTERNET: "off" }, "not on the public"],
    ["where it is asked not to", ["--internet", "off"], {}, "no internet access"],
  ])("sets the internet access of its program %s", async (_, args, env, said) => {
    const { stdout } = await runBuilt("cli", [...run, ...args], {
      env: { CLOUD_SANDBOX_BACKEND: "local", ...env },
    });
    expect(stdout).toContain(said);
  });
});

/** Sets the flag IFF_UP of the interface. */
const loopbackUp =
  'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 1))';

describe("on a machine without internet", () => {
  const lack = "This machine has no internet access";
  const programs = {
    pip: "python3 -m pip install --disable-pip-version-check --retries 1 --target /tmp/x six",
    npm: "cd /tmp && npm install --fetch-retries 0 left-pad",
    "curl over http": "curl -sS http://a.example/",
    "curl over https": "curl -sSv https://a.example/",
    "curl to an address": "curl -sS http://1.1.1.1/",
    "Node's fetch": "node -e 'fetch(\"https://a.example/\").catch((e) => { console.error(e.cause); })'",
    "Python's urllib": "python3 -c 'import urllib.request as u; u.urlopen(\"https://a.example/\")'",
  };

  test("programs and the log say that the machine has no internet access, not that it is forbidden", {
    tags: ["root", "curl", "python3-pip"],
  }, async () => {
    const script = fileURLToPath(new URL("../support/offline-programs.mjs", import.meta.url));
    const start = ["sh", "-c", 'python3 -c "$0"; exec "$@"', loopbackUp, process.execPath, script];
    const child = spawn("unshare", ["--net", ...start, JSON.stringify(programs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
    const { said, log } = JSON.parse(output) as {
      said: Record<string, string>;
      log: { decision: string; reason: string }[];
    };
    for (const [program, output] of Object.entries(said)) {
      expect.soft(output, program).toContain(lack);
      expect.soft(output, program).not.toContain("internet_access: true");
    }
    expect(log.length).toBeGreaterThanOrEqual(Object.keys(programs).length);
    for (const entry of log)
      expect(entry).toEqual({ decision: "failed", reason: expect.stringContaining(lack) });
  });
});

test("Node.js starts in a program without a sandbox, also where no sandbox was started before", async () => {
  const own = await startLocalServer({ args: ["--pool", "0"] });
  try {
    await using client = new SandboxClient({ baseUrl: own.url, apiKey: own.apiKey });
    const { stdout, stderr } = await client.executeIsolated(`node -p '"began"'`, { language: "bash" });
    expect(stdout + stderr).toBe("began\n");
  } finally {
    await own.stop();
  }
});
