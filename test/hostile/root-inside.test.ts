import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cannotStartAs, type LocalServer, startLocalServer } from "../support/local-server.js";
import { asRoot } from "./as-root.js";
import { escaping, staying } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { kernel } from "./kernel.js";
import { reading, readingThroughFiles } from "./reading.js";
import { finding, sharing } from "./sharing.js";
import { takingOver } from "./taking-over.js";

const secret = `secret-${randomUUID()}`;
/** Attempts that are the same in sandboxes of an ordinary user, which take them from `hostile.test.ts`, and take long. */
const madeThere = ["have the agent start for ever", "stop the agent, so that callers wait for ever"];
const attacks = [
  ...[...reading, ...kernel, ...finding, ...escaping, ...readingThroughFiles, ...sharing, ...staying],
  ...[...takingOver, ...exhausting, ...asRoot],
];

describe.skipIf(cannotStartAs("root") !== undefined)("hostile code that is root inside its sandbox", () => {
  const outcomes: string[] = [];
  let directory: string;
  let server: LocalServer;
  let client: SandboxClient;
  let neighbour: Sandbox;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "host-secret-"));
    await writeFile(join(directory, "secret.txt"), secret);
    const limits = ["--memory-mb", "256", "--disk-mb", "64", "--max-processes", "96", "--pool", "1"];
    server = await startLocalServer({
      ...{ apiKey: secret, env: { HOST_SECRET: secret } },
      args: ["--root-inside", ...limits],
    });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    neighbour = await client.sandboxes.create({ template: "code-interpreter" });
  });

  afterAll(async () => {
    await client?.close();
    if (server) expect(await server.stop()).toEqual({ code: 0, signal: null });
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    if (outcomes.length > 0)
      console.log(`Hostile code that is root inside its sandbox:\n${outcomes.join("\n")}`);
  });

  test.for(
    attacks.filter(({ name }) => !madeThere.includes(name)).map((attack) => [attack.name, attack] as const),
  )("cannot %s", { timeout: 240_000 }, async ([name, { attempt }]) => {
    const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
    try {
      const outcome = await attempt({
        ...{ client, server, sandbox, neighbour, secret },
        hostFiles: [join(directory, "secret.txt")],
        ...{ isRoot: true, agentIsApart: false, codeIsRoot: true },
      });
      const { stdout } = await neighbour.execute("echo undisturbed", { language: "bash" });
      expect(stdout).toBe("undisturbed\n");
      expect((await client.health()).status).toBe("healthy");
      outcomes.push(`  ${name}: ${outcome}`);
    } finally {
      await sandbox.delete();
    }
  });
});
