import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { build, type Options } from "tsup";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenWebSocket } from "../../src/index.js";
import { frameServer } from "../support/frame-server.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const run = promisify(execFile);
const entry = fileURLToPath(new URL("../../src/index.ts", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "client-bundles-"));
  const common: Options = { config: false, silent: true, outDir: directory, noExternal: [/.*/] };
  await build({ ...common, entry: { node: entry }, format: "cjs", platform: "node" });
  const bare: Options = { entry: { bare: entry }, noExternal: [/^(?!undici$)/], external: ["undici"] };
  await build({ ...common, ...bare, format: "cjs", platform: "node" });
  await build({
    ...common,
    entry: { edge: entry },
    format: "iife",
    globalName: "cloudSandbox",
    platform: "browser",
  });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const sandbox = { id: "abc", status: "running", isolation: "namespace" };

describe("on Node.js", () => {
  test("a program ends with its last call, though connections are kept alive and nothing is closed", async () => {
    const server = await scriptedServer((_, response) =>
      json(response, 200, sandbox, { "keep-alive": "timeout=600" }),
    );
    const program = `
      const { SandboxClient } = require(${JSON.stringify(join(directory, "node.cjs"))});
      const client = new SandboxClient({ apiKey: "key", baseUrl: ${JSON.stringify(server.url)} });
      client.sandboxes.get("abc").then(({ id }) => {
        const answered = Date.now();
        process.on("exit", () => console.log(id, Date.now() - answered));
      });`;
    const { stdout } = await run(process.execPath, ["-e", program]);
    const [id, waited] = stdout.trim().split(" ");
    expect(id).toBe("abc");
    // Less than the 4 s for which undici would keep an idle connection, and with it the process.
    expect(Number(waited)).toBeLessThan(3800);
  });

  test("a program ends once its client is closed, though an answer still comes that nobody reads", async () => {
    const server = await scriptedServer(({ path }, response) => {
      if (path.startsWith("/files/download")) response.writeHead(200).write("the beginning");
      else json(response, 200, { ...sandbox, public_host: server.url, auth_token: "token-of-nobody" });
    });
    const program = `
      const { SandboxClient } = require(${JSON.stringify(join(directory, "node.cjs"))});
      (async () => {
        const client = new SandboxClient({ apiKey: "key", baseUrl: ${JSON.stringify(server.url)} });
        const { agent } = await client.sandboxes.get("abc");
        await agent.GET("/files/download", { params: { query: { path: "f" } }, parseAs: "stream" });
        await client.close();
        const closed = Date.now();
        process.on("exit", () => console.log(Date.now() - closed));
      })();`;
    const { stdout } = await run(process.execPath, ["-e", program]);
    // Less than the 60 s that a call may take.
    expect(Number(stdout)).toBeLessThan(10_000);
  });

  test("a program without a key is told what to install, and works when it is installed", async () => {
    const away = await mkdtemp(join(tmpdir(), "client-alone-"));
    const local = fileURLToPath(new URL("../../../local", import.meta.url));
    const program = `
      import { mkdirSync, symlinkSync } from "node:fs";
      import { createRequire } from "node:module";
      const { SandboxClient } = createRequire(import.meta.url)("./node.cjs");
      const client = new SandboxClient();
      const failures = await Promise.all([client.health(), client.sandboxes.create()].map((call) => call.catch((error) => error)));
      for (const { code, message } of failures) console.log(code, message);
      mkdirSync("node_modules");
      symlinkSync(${JSON.stringify(local)}, "node_modules/cloud-sandbox-local");
      console.log((await client.health()).runtime);`;
    try {
      await copyFile(join(directory, "node.cjs"), join(away, "node.cjs"));
      await writeFile(join(away, "program.mjs"), program);
      const { PATH = "" } = process.env;
      const { stdout } = await run(process.execPath, ["program.mjs"], { cwd: away, env: { PATH } });
      const twoLines =
        /LOCAL_BACKEND_MISSING .*\n {2}npm install cloud-sandbox-local .*\n {2}export CLOUD_SANDBOX_API_KEY=\S+ .*\n/g;
      expect(stdout.match(twoLines)).toHaveLength(2);
      expect(stdout).toMatch(/\nbubblewrap\n$/);
    } finally {
      await rm(away, { recursive: true });
    }
  });

  test("importing the package and making a client open nothing, and load no undici", async () => {
    // Import the client from a directory from which undici cannot be found, so that the first use of undici fails.
    const program = `
      const { SandboxClient } = require(${JSON.stringify(join(directory, "bare.cjs"))});
      const client = new SandboxClient({ apiKey: "key", baseUrl: "http://127.0.0.1:9" });
      console.log(process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap").length);
      client.health().catch(({ cause }) => console.log(cause.code));`;
    const { stdout } = await run(process.execPath, ["-e", program]);
    expect(stdout).toBe("0\nERR_MODULE_NOT_FOUND\n");
  });
});

describe("where there is no Node.js", () => {
  /** The globals of a worker at the edge: no process, no require, no Buffer. */
  function edge(): Record<string, unknown> {
    const { AbortController, AbortSignal, Blob, FormData, Headers, ReadableStream, Request, Response } =
      globalThis;
    const { TextDecoder, TextEncoder, URL, atob, btoa, clearTimeout, crypto, performance, setTimeout } =
      globalThis;
    const fetch = (request: Request): Promise<Response> => globalThis.fetch(request);
    const streams = { Blob, FormData, Headers, ReadableStream, Request, Response, TextDecoder, TextEncoder };
    const tools = { AbortController, AbortSignal, URL, atob, btoa, crypto, performance };
    return { ...streams, ...tools, clearInterval, clearTimeout, fetch, setInterval, setTimeout };
  }

  test("the bundle needs no module of it", async () => {
    const text = await readFile(join(directory, "edge.global.js"), "utf8");
    expect(text).not.toMatch(/\brequire\(/);
    // What Node.js itself is asked for at run time is not a dependency of the bundle.
    const rest = text.replaceAll(/process\.getBuiltinModule\("[\w:/]+"\)/g, "");
    expect(rest).not.toMatch(/["']node:/);
  });

  test("the bundle works with fetch", async () => {
    const server = await scriptedServer((request, response) =>
      request.path.startsWith("/files/download")
        ? response.writeHead(200, { "content-type": "application/octet-stream" }).end("bytes")
        : json(response, 200, { ...sandbox, public_host: server.url, auth_token: "token" }),
    );
    const context = createContext(edge());
    runInContext(await readFile(join(directory, "edge.global.js"), "utf8"), context);
    const seen = await runInContext(
      `(async () => {
        const client = new cloudSandbox.SandboxClient({ apiKey: "key", baseUrl: ${JSON.stringify(server.url)} });
        const sandbox = await client.sandboxes.create();
        const bytes = await sandbox.files.readBytes("/workspace/a");
        await sandbox.files.write("/workspace/a", bytes);
        await sandbox.delete();
        return [sandbox.id, bytes.length];
      })()`,
      context,
    );
    expect([...seen]).toEqual(["abc", 5]);
    expect(server.calls()).toEqual([
      "POST /v1/sandboxes",
      "GET /files/download?path=%2Fworkspace%2Fa",
      "POST /files/upload?path=%2Fworkspace%2Fa",
      "DELETE /v1/sandboxes/abc",
    ]);
  });

  test("streams say what is missing, and work with a WebSocket that the caller provides", async () => {
    const server = await frameServer((_, socket) =>
      socket.send({ type: "result", exit_code: 4 }, { type: "complete", success: false }),
    );
    const { WebSocket } = await import("undici");
    const webSocket: OpenWebSocket = (url, { headers }) => new WebSocket(url, { headers });
    const context = createContext({ ...edge(), webSocket });
    runInContext(await readFile(join(directory, "edge.global.js"), "utf8"), context);
    const seen = await runInContext(
      `(async () => {
        const options = { apiKey: "key", baseUrl: ${JSON.stringify(server.url)} };
        const run = async (more) => {
          const sandbox = await new cloudSandbox.SandboxClient({ ...options, ...more }).sandboxes.get("abc");
          return sandbox.executeStream("1").result().then(({ exitCode }) => exitCode, ({ name }) => name);
        };
        return [await run({}), await run({ webSocket })];
      })()`,
      context,
    );
    expect([...seen]).toEqual(["ConfigurationError", 4]);
  });
});
