import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/documents/code-blocks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { needs } from "../support/needs.js";
import { runtimes } from "../support/runtimes/runtimes.js";

const run = promisify(execFile);
const program = join(root, "test/support/runtimes/smoke-program.mjs");
const chromiumPath = "/usr/bin/chromium";

const seen = {
  execute: "hello\n",
  bytes: true,
  entries: ["bytes"],
  output: "done\n",
  streamed: "piece by piece\n",
  missing: "FILE_NOT_FOUND",
  metrics: "number",
};

const page = createServer((_, response) =>
  response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>"),
);
let origin: string;
let server: LocalServer;

beforeAll(async () => {
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  server = await startLocalServer({ args: ["--pool", "1", "--cors-origin", origin] });
});
afterAll(async () => {
  page.close();
  await server?.stop();
});

const environment = () => ({
  PATH: process.env.PATH,
  CLOUD_SANDBOX_API_KEY: server.apiKey,
  CLOUD_SANDBOX_BASE_URL: server.url,
});

test.for(runtimes)("the client works on $name", { timeout: 240_000 }, async ({ name, command }, { skip }) => {
  skip(...needs("libatomic1", name.startsWith("Node.js 26")));
  const [file = "", ...args] = await command().catch((error: Error) => {
    // In CI every runtime can be installed, so a failure there is an error and not a reason to skip.
    if (process.env.CI !== undefined) throw error;
    return skip(`it cannot be fetched from the registry: ${error.message.split("\n", 1)}`);
  });
  const { stdout, stderr } = await run(file, [...args, program], { cwd: root, env: environment() });
  expect({ stderr, ...JSON.parse(stdout) }).toEqual({ stderr: "", ...seen });
});

test("a program that creates a sandbox and executes loads no more than what is weighed for it", async () => {
  await run(process.execPath, [join(root, "scripts/bundle-client.mjs")]);
  const weighed = join(root, "node_modules/.cache/client-size/in-all/stdin.js");
  const { stdout } = await run(process.execPath, [weighed], { env: environment() });
  expect(stdout).toBe("42\n\n");
});

describe.each(["browser", "workerd"])("a bundle for the condition %s", (condition) => {
  let bundle: string;

  beforeAll(async () => {
    const { outputFiles, warnings } = await build({
      stdin: {
        contents: `export { SandboxClient } from "cloud-sandbox"; export { smoke } from "./test/support/runtimes/smoke.mjs";`,
        resolveDir: root,
      },
      bundle: true,
      minify: true,
      write: false,
      format: "iife",
      globalName: "bundle",
      platform: "browser",
      conditions: [condition],
    });
    expect(warnings).toEqual([]);
    bundle = outputFiles[0]?.text ?? "";
  });

  test("holds no undici and no module of Node.js", () => {
    expect(bundle).not.toMatch(/\bundici\b.*keepAliveTimeout/);
    expect(bundle).not.toMatch(/from ?["']node:|require\(["']node:/);
  });

  test("works in a page of Chromium, over fetch and CORS", { timeout: 120_000 }, async ({ skip }) => {
    skip(!existsSync(chromiumPath), `there is no ${chromiumPath}: apt-get install chromium`);
    const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    try {
      const tab = await browser.newPage();
      const errors: Error[] = [];
      tab.on("pageerror", (error) => errors.push(error));
      await tab.goto(origin);
      await tab.addScriptTag({ content: bundle });
      const options = JSON.stringify({ apiKey: server.apiKey, baseUrl: server.url });
      const result = await tab.evaluate(`bundle.smoke(new bundle.SandboxClient(${options}))`);
      // A page cannot send headers with a WebSocket, and so no token: the streamed execution is refused.
      expect(result).toEqual({ ...seen, streamed: "WEBSOCKET_UNAVAILABLE" });
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
