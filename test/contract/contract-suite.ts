import {
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  type Sandbox,
  type SandboxClient,
  SandboxExpiredError,
  ValidationError,
} from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atOnceSuite } from "./at-once.js";
import type { Backend } from "./backends/backend.js";
import { backgroundSuite } from "./background.js";
import { changeSuite } from "./changes.js";
import { contextSuite } from "./contexts.js";
import { desktopSuite } from "./desktop.js";
import { eventSuite } from "./events.js";
import { executionSuite } from "./executions.js";
import { lifecycleSuite } from "./lifecycle.js";
import { liveSuite } from "./live.js";
import { programsFromFilesSuite } from "./programs-from-files.js";
import { sleepSuite } from "./sleep.js";
import { snapshotSuite } from "./snapshots.js";
import { streamSuite } from "./streams.js";
import { templateSuite } from "./templates.js";
import { webhookSuite } from "./webhooks.js";

/**
 * The tests that every backend must pass; those of pauses only if it `pauses` sandboxes, those of templates only if it `builds` them.
 * `forwards`: whether it forwards ports; `tells`: whether it has events; `startsFast`: whether a sandbox starts in less than a second;
 * `hasLinks`: whether it has links, pipes and names that are no text.
 */
export function contractSuite(
  start: () => Promise<Backend>,
  { pauses = true, forwards = true, builds = true, tells = true, startsFast = true, hasLinks = true } = {},
): void {
  describe("the contract", () => {
    let backend: Backend;
    let client: SandboxClient;
    let sandbox: Sandbox;

    beforeAll(async () => {
      backend = await start();
      client = backend.client;
      sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 1800 });
    });
    afterAll(() => backend?.close());

    describe("sandboxes", () => {
      test("run from create to delete, and are gone then", async () => {
        const created = await client.sandboxes.create({
          template: "base",
          timeoutSeconds: 120,
          metadata: { owner: "suite" },
        });
        expect(created.status).toBe("running");
        expect(created.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 100_000);
        const found = await client.sandboxes.get(created.id);
        expect(found.id).toBe(created.id);
        expect(found.metadata).toEqual({ owner: "suite" });
        await created.delete();
        await expect(client.sandboxes.get(created.id)).rejects.toThrow(NotFoundError);
        await expect(created.execute("1")).rejects.toThrow(NotFoundError);
        // A second delete must succeed, because a clean-up cannot know whether the sandbox still exists.
        await created.delete();
      });

      test("are listed page by page, each once", async () => {
        const others = await Promise.all([1, 2, 3].map(() => client.sandboxes.create({ template: "base" })));
        const listed: string[] = [];
        for await (const { id } of client.sandboxes.list({ limit: 2 })) listed.push(id);
        for (const { id } of [sandbox, ...others])
          expect(listed.filter((other) => other === id)).toEqual([id]);
        await Promise.all(others.map((other) => other.delete()));
      });

      test("move their deadline, and end when it passes", async () => {
        const short = await client.sandboxes.create({ template: "base", timeoutSeconds: 300 });
        await short.setTimeout(1);
        await expect
          .poll(() => short.execute("echo", { language: "bash" }).catch((error: unknown) => error))
          .toBeInstanceOf(SandboxExpiredError);
        await expect(client.sandboxes.get(short.id)).rejects.toThrow(/expired/);
      });

      test.each([
        ["expire", SandboxExpiredError, (working: Sandbox) => working.setTimeout(1)],
        ["are deleted", NotFoundError, (working: Sandbox) => client.sandboxes.delete(working.id)],
      ])("that %s while they work say so to the call that waits", async (_, type, end) => {
        const working = await client.sandboxes.create({ template: "base" });
        const call = working.execute("sleep 60", { language: "bash" });
        const outcome = expect(call).rejects.toThrow(type);
        await end(working);
        await outcome;
      });

      if (pauses) pauseTests(() => client);

      test("are found again by their id, with a token of their own", async () => {
        const connected = await client.sandboxes.connect(sandbox.id);
        expect((await connected.execute("print(6 * 7)")).stdout).toBe("42\n");
      });

      test("get the environment variables that they were created with", async () => {
        await using created = await client.sandboxes.create({
          template: "base",
          env: { GREETING: "hello there" },
        });
        expect((await created.execute("echo $GREETING", { language: "bash" })).stdout).toBe("hello there\n");
      });

      test.each([
        ["an unknown template", { template: "no-such-template" }, NotFoundError],
        ["a lifetime of 0", { template: "base", timeoutSeconds: 0 }, ValidationError],
        ["a lifetime of more than a day", { template: "base", timeoutSeconds: 100_000 }, ValidationError],
      ])("are refused for %s", async (_, options, type) => {
        const before = await count(client);
        await expect(client.sandboxes.create(options)).rejects.toThrow(type);
        expect(await count(client)).toBe(before);
      });

      test("are not there for a wrong key", async () => {
        const stranger = backend.clientWith("wrong");
        await expect(stranger.sandboxes.get(sandbox.id)).rejects.toThrow(AuthenticationError);
        await stranger.close();
      });

      test("that never were are not found", async () => {
        await expect(client.sandboxes.get("1700000000abcdefgh")).rejects.toThrow(NotFoundError);
      });
    });

    describe("templates", () => {
      test("are listed and described", async () => {
        const names: string[] = [];
        for await (const template of client.templates.list()) names.push(template.name);
        expect(names).toEqual(expect.arrayContaining(["code-interpreter", "base"]));
        expect((await client.templates.get("code-interpreter")).name).toBe("code-interpreter");
        await expect(client.templates.get("no-such-template")).rejects.toThrow(NotFoundError);
      });
    });

    if (builds) templateSuite(() => client);
    executionSuite({ backend: () => backend, sandbox: () => sandbox, count: () => count(client) });
    programsFromFilesSuite(
      () => client,
      () => sandbox,
      startsFast,
    );

    describe("commands", () => {
      test("find Python and its installer by the names that people type", {
        tags: ["python3-pip"],
      }, async () => {
        const { stdout } = await sandbox.commands.run("python -c 'print(6 * 7)'; pip --version | cut -c -4");
        expect(stdout).toBe("42\npip \n");
      });

      test("are a line for the shell, or a program with its arguments", async () => {
        expect((await sandbox.commands.run("echo $((6 * 7)) | tr 4 5")).stdout).toBe("52\n");
        expect((await sandbox.commands.run(["echo", "$HOME", "a  b"])).stdout).toBe("$HOME a  b\n");
        expect((await sandbox.commands.run("exit 9")).exitCode).toBe(9);
      });

      test("of 200 kB run", async () => {
        const line = `: '${"x".repeat(200_000)}'; echo end`;
        expect((await sandbox.commands.run(line)).stdout).toBe("end\n");
      });

      test.each([
        ["is not valid", '{ "name": "odd", }'],
        ["names every file", '{ "name": "", "exports": { "./*": "./nothing.cjs" } }'],
      ])("start Node.js where the package.json of the directory %s", async (_, manifest) => {
        await sandbox.files.write("/workspace/odd/package.json", manifest);
        const { stdout, stderr } = await sandbox.commands.run("node -p '6 * 7'", {
          workdir: "/workspace/odd",
        });
        expect({ stdout, stderr }).toEqual({ stdout: "42\n", stderr: "" });
      });

      test("that cannot be executed end with 126, and those that are not there with 127", async () => {
        await sandbox.files.write("/workspace/no-program", "text");
        const codeOf = async (command: string): Promise<number> =>
          (await sandbox.commands.run([command])).exitCode;
        expect(await Promise.all(["./no-program", "/workspace", "./nothing"].map(codeOf))).toEqual([
          126, 126, 127,
        ]);
      });
    });

    backgroundSuite(() => sandbox);
    contextSuite(() => sandbox);
    webhookSuite(() => sandbox);
    if (tells) eventSuite(() => client, pauses);
    streamSuite(
      () => client,
      () => sandbox,
    );
    liveSuite(() => sandbox);
    desktopSuite(() => client);
    lifecycleSuite(() => client, pauses);

    sleepSuite(() => backend, pauses, startsFast ? 20 : 4);
    snapshotSuite(() => client, startsFast ? 16 : 3);
    changeSuite(() => client, hasLinks);
    atOnceSuite(
      () => client,
      () => sandbox,
      pauses,
    );

    describe("files", () => {
      test("come back as they were written, text and bytes", async () => {
        await sandbox.files.write("/workspace/deep/er/text.txt", "grüße\n");
        expect(await sandbox.files.readText("/workspace/deep/er/text.txt")).toBe("grüße\n");
        const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
        await sandbox.files.write("/tmp/bytes.bin", bytes);
        expect(Buffer.from(await sandbox.files.readBytes("/tmp/bytes.bin")).equals(bytes)).toBe(true);
        // Text that looks like base64 must be written as text.
        await sandbox.files.write("/workspace/like-base64", "aGVsbG8=");
        expect(await sandbox.files.readText("/workspace/like-base64")).toBe("aGVsbG8=");
      });

      test("are listed, found, made and removed", async () => {
        await sandbox.files.mkdir("/workspace/tree/branch");
        await sandbox.files.write("/workspace/tree/leaf", "12345");
        const { entries } = await sandbox.files.list("/workspace/tree");
        expect(
          entries.map(({ name, isDirectory, size }) => [name, isDirectory, isDirectory || size]),
        ).toEqual([
          ["branch", true, true],
          ["leaf", false, 5],
        ]);
        expect(await sandbox.files.exists("/workspace/tree/leaf")).toBe(true);
        await sandbox.files.remove("/workspace/tree");
        expect(await sandbox.files.exists("/workspace/tree/leaf")).toBe(false);
      });

      test("are written to the path of a file alone, however they are sent", async () => {
        for (const content of ["text", Buffer.from("bytes")]) {
          const writing = sandbox.files.write("/workspace/no-file/", content);
          await expect(writing).rejects.toMatchObject({ code: "INVALID_PATH" });
        }
        expect(await sandbox.files.exists("/workspace/no-file")).toBe(false);
      });

      test("that exist are kept when told so", async () => {
        await sandbox.files.write("/workspace/kept", "first");
        await expect(sandbox.files.write("/workspace/kept", "second", { overwrite: false })).rejects.toThrow(
          ConflictError,
        );
        expect(await sandbox.files.readText("/workspace/kept")).toBe("first");
      });

      test("elsewhere or missing are refused, each in its own way", async () => {
        await expect(sandbox.files.readText("/etc/passwd")).rejects.toThrow(PermissionDeniedError);
        await expect(sandbox.files.write("/etc/passwd", "")).rejects.toThrow(PermissionDeniedError);
        await expect(sandbox.files.readText("/workspace/missing")).rejects.toThrow(NotFoundError);
      });
    });

    test("ports of a sandbox lead to ports of this machine, or it is said that they do not", async () => {
      const forwarding = sandbox.ports.forward(8123);
      if (!forwards) {
        await expect(forwarding).rejects.toMatchObject({ code: "PORT_FORWARD_UNAVAILABLE" });
        return;
      }
      await using forward = await forwarding;
      await sandbox.files.write("/workspace/site/page", "from inside");
      await sandbox.commands.runBackground("python3 -m http.server 8123 --directory /workspace/site");
      await sandbox.ports.waitForPort(8123);
      const { localHost, localPort } = forward;
      const answer = await fetch(`http://${localHost}:${localPort}/page`);
      expect(await answer.text()).toBe("from inside");
    });

    describe("environment variables", () => {
      test("last, and those that look secret are masked but whole", async () => {
        await using created = await client.sandboxes.create({ template: "base" });
        await created.env.merge({ PLAIN: "seen", MY_API_TOKEN: "s3cret" });
        const shown = await created.env.get();
        expect(shown.PLAIN).toBe("seen");
        expect(JSON.stringify(shown)).not.toContain("s3cret");
        const { stdout } = await created.execute("echo $PLAIN $MY_API_TOKEN", { language: "bash" });
        expect(stdout).toBe("seen s3cret\n");
        await created.env.clear();
        expect((await created.execute("echo [$PLAIN]", { language: "bash" })).stdout).toBe("[]\n");
      });
    });

    describe("the agent", () => {
      test("tells about itself, its machine and its processes", async () => {
        expect((await sandbox.system.health()).status).toBe("healthy");
        expect(await sandbox.system.info()).toBeTypeOf("object");
        expect(await sandbox.metrics.snapshot()).toBeTypeOf("object");
        expect((await sandbox.system.processes()).length).toBeGreaterThan(0);
      });

      test("accepts no token but its sandbox's own", async () => {
        await using other = await client.sandboxes.create({ template: "base" });
        const { auth_token: token } = (await (
          await backend.fetch(`${backend.url}/v1/sandboxes/${other.id}/token/refresh`, {
            method: "POST",
            headers: { "x-api-key": backend.apiKey },
          })
        ).json()) as { auth_token: string };
        for (const credentials of [
          {},
          { authorization: `Bearer ${token}` },
          { authorization: `Bearer ${backend.apiKey}` },
          { "x-api-key": backend.apiKey },
          { authorization: `Bearer ${token.split(".").slice(0, 2).join(".")}.` },
        ]) {
          const { status } = await backend.fetch(`${sandbox.publicHost}/env`, {
            headers: credentials as Record<string, string>,
          });
          expect(status).toBe(401);
        }
      });
    });
  });
}

async function count(client: SandboxClient): Promise<number> {
  let total = 0;
  for await (const _ of client.sandboxes.list()) total += 1;
  return total;
}

function pauseTests(client: () => SandboxClient): void {
  test("are deleted while paused too", async () => {
    const paused = await client().sandboxes.create({ template: "base" });
    await paused.pause();
    await paused.delete();
    await expect(client().sandboxes.get(paused.id)).rejects.toThrow(NotFoundError);
  });

  test("freeze when paused, keep what they hold, and go on when resumed", async () => {
    const paused = await client().sandboxes.create({ template: "base" });
    await paused.execute(
      "(while :; do date +%s%N > /tmp/tick; mv /tmp/tick /tmp/ticks; sleep 0.02; done) >/dev/null 2>&1 &",
      {
        language: "bash",
      },
    );
    await paused.pause();
    expect((await client().sandboxes.get(paused.id)).status).toBe("paused");
    await expect(paused.execute("1")).rejects.toThrow(/[Rr]esume/);
    await paused.resume();
    const ticks = async (): Promise<string> =>
      (await paused.execute("cat /tmp/ticks", { language: "bash" })).stdout;
    const first = await ticks();
    await expect.poll(ticks).not.toBe(first);
    await paused.delete();
  });
}
