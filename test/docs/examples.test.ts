import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../support/documents/code-blocks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "1", "--webhook-allow-private"] });
});
afterAll(() => server?.stop());

test.each(readdirSync(join(root, "examples")).filter((name) => name.endsWith(".mjs")))(
  "examples/%s runs",
  async (name) => {
    const child = spawn(process.execPath, [join(root, "examples", name)], {
      env: {
        PATH: process.env.PATH,
        CLOUD_SANDBOX_API_KEY: server.apiKey,
        CLOUD_SANDBOX_BASE_URL: server.url,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    expect(code, stderr).toBe(0);
    expect(stdout).not.toBe("");
  },
);
