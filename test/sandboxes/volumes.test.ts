import { SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { startLocalServer } from "../support/local-server.js";
import { volumeStatements } from "./volume-statements.js";

describe("a volume", { tags: ["root"] }, () => {
  volumeStatements({
    start: (args) => startLocalServer({ args }),
    refusesLink: /nothing can be mounted at a\/b, where there is a file or a link/,
  });
});

test("volumes need a server that root started, and say so", async () => {
  const server = await startLocalServer({ who: "an ordinary user", args: ["--pool", "0"] });
  await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  await expect(client.volumes.create("cache")).rejects.toMatchObject({
    code: "VOLUMES_UNAVAILABLE",
    message: expect.stringContaining("a server that root started"),
  });
  const env = { CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
  const { stderr } = await runBuilt("cli", ["volume", "list"], { env });
  expect(stderr).toMatch(/This server has no volumes: .*a server that root started/);
  await server.stop();
});
