import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { processCount } from "../support/process-count.js";

let server: LocalServer;
beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "1"] });
});
afterAll(() => server?.stop());

/** Removes the isolation from every description of a sandbox, because the cloud states none. */
async function withoutIsolation(request: Request): Promise<Response> {
  const response = await globalThis.fetch(request);
  if (!new URL(request.url).pathname.startsWith("/v1/sandboxes")) return response;
  const { isolation: _, ...body } = (await response.json()) as Record<string, unknown>;
  return Response.json(body, { status: response.status });
}

describe.each([
  ["on a server with /commands/stream", {}],
  ["on a server that states no isolation, over /execute/stream", { fetch: withoutIsolation }],
])("commands.run %s", (_, options) => {
  let client: SandboxClient;
  let sandbox: Sandbox;
  beforeAll(async () => {
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url, ...options });
    sandbox = await client.sandboxes.create();
  });
  afterAll(async () => {
    await sandbox?.delete();
    await client?.close();
  });

  test("gives the command its input: text, bytes and streams", async () => {
    const { commands } = sandbox;
    expect(await commands.run(["sort"], { stdin: "b\na\nü\n" })).toMatchObject({
      stdout: "a\nb\nü\n",
      exitCode: 0,
    });
    const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
    expect(await commands.run("wc -c; exit 3", { stdin: bytes })).toMatchObject({
      stdout: "100000\n",
      exitCode: 3,
      success: false,
    });
    async function* pieces() {
      yield "one ";
      yield new TextEncoder().encode("two");
    }
    expect((await commands.run(["cat"], { stdin: pieces() })).stdout).toBe("one two");
    expect((await commands.run("cat; echo end", { stdin: "" })).stdout).toBe("end\n");
  });

  test("reports output as it is written, and returns it", async () => {
    const seen: string[] = [];
    const line =
      "echo first; while [ ! -e /workspace/go ]; do sleep 0.05; done; echo 'it'\\''s' >&2; rm /workspace/go";
    const result = await sandbox.commands.run(line, {
      // The command waits for this file, so it ends only if its output is reported while it runs.
      onStdout: async (text) => {
        seen.push(`out ${text}`);
        await sandbox.files.write("go", "");
      },
      onStderr: (text) => seen.push(`err ${text}`),
    });
    expect(seen).toEqual(["out first\n", "err it's\n"]);
    expect(result).toMatchObject({ kind: "result", stdout: "first\n", stderr: "it's\n", exitCode: 0 });
  });

  test("takes the environment, the directory and the arguments as they are", async () => {
    const run = await sandbox.commands.run(["printf", "%s|%s|", "$HOME", "it's"], {
      env: { A: "1" },
      workdir: "/tmp",
      onStdout: () => undefined,
    });
    expect(run.stdout).toBe("$HOME|it's|");
    const where = await sandbox.commands.run("echo $A; pwd; cat", {
      env: { A: "1" },
      workdir: "/tmp",
      stdin: "x",
    });
    expect(where.stdout).toBe("1\n/tmp\nx");
  });

  test("keeps the beginning and the end of long output", async () => {
    let length = 0;
    const run = await sandbox.commands.run(
      "printf begin; head -c 3000000 /dev/zero | tr '\\0' x; printf end",
      {
        onStdout: (text) => {
          length += text.length;
        },
      },
    );
    expect(run.stdout.length).toBeLessThan(1024 * 1024 + 100);
    expect(run.stdout.startsWith("beginx") && run.stdout.endsWith("xend")).toBe(true);
    expect(run.output.stdout.truncated).toBe(true);
    expect(length).toBeGreaterThan(1024 * 1024);
  });

  test("an error of a callback, a signal and a time limit end the command", async () => {
    const fault = new Error("mine");
    const started = "echo $$; exec sleep 987";
    const failing = sandbox.commands.run(started, {
      onStdout: async () => {
        throw fault;
      },
    });
    await expect(failing).rejects.toBe(fault);
    const controller = new AbortController();
    const aborted = sandbox.commands.run(started, {
      onStdout: () => controller.abort(),
      signal: controller.signal,
    });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    const late = sandbox.commands.run(started, { onStdout: () => undefined, requestTimeoutSeconds: 1 });
    await expect(late).rejects.toMatchObject({ name: "TimeoutError", kind: "request" });
    await expect
      .poll(async () => (await sandbox.commands.run(processCount("sleep 987"))).stdout.trim())
      .toBe("0");
  });
});

test("input that is none, and callbacks that are none, are refused", async () => {
  await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  await using sandbox = await client.sandboxes.create();
  for (const options of [{ stdin: 7 }, { stdin: true }, { onStdout: "log" }, { onStderr: {} }])
    await expect(sandbox.commands.run("ls", options as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
});
