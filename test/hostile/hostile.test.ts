import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";
import { escaping } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { kernel } from "./kernel.js";
import { reading } from "./reading.js";
import { sharing } from "./sharing.js";
import { takingOver } from "./taking-over.js";

const secret = `secret-${randomUUID()}`;
const settings = {
  apiKey: secret,
  env: { HOST_SECRET: secret },
  args: () => ["--memory-mb", "256", "--disk-mb", "64", "--max-processes", "96", "--pool", "1"],
};

describeForBothUsers("hostile code, in a sandbox started by %s", settings, (on) => {
  const outcomes: string[] = [];
  let directory: string;
  let neighbour: Sandbox;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "host-secret-"));
    await writeFile(join(directory, "secret.txt"), secret);
    neighbour = await on.client.sandboxes.create({ template: "code-interpreter" });
  });

  afterAll(async () => {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    if (outcomes.length > 0)
      console.log(`Hostile code, in a sandbox started by ${on.who}:\n${outcomes.join("\n")}`);
  });

  test.for(
    [...reading, ...kernel, ...sharing, ...escaping, ...takingOver, ...exhausting].map(
      (attack) => [attack.name, attack] as const,
    ),
  )("cannot %s", { timeout: 240_000 }, async ([name, { attempt }]) => {
    const { client, server, who } = on;
    const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
    try {
      const outcome = await attempt({
        client,
        sandbox,
        neighbour,
        server,
        secret,
        hostFiles: [join(directory, "secret.txt")],
        isRoot: who === "root",
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
