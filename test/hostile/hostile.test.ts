import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";
import { escaping, staying } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { kernel } from "./kernel.js";
import { mounting } from "./mounting.js";
import { reading, readingThroughFiles } from "./reading.js";
import { finding, sharing } from "./sharing.js";
import { takingFromTheKernel } from "./taking-from-the-kernel.js";
import { takingOver } from "./taking-over.js";

const secret = `secret-${randomUUID()}`;
const byCode = [...reading, ...kernel, ...finding, ...escaping];
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

  const circumstances = () => ({
    ...{ client: on.client, server: on.server, neighbour, secret },
    hostFiles: [join(directory, "secret.txt")],
    isRoot: on.who === "root",
    agentIsApart: on.who === "root",
    codeIsRoot: false,
  });

  test.for(
    [
      ...[...byCode, ...readingThroughFiles, ...sharing, ...staying, ...takingOver, ...mounting],
      ...[...exhausting, ...takingFromTheKernel],
    ].map((attack) => [attack.name, attack] as const),
  )("cannot %s", { timeout: 240_000 }, async ([name, { attempt }]) => {
    const sandbox = await on.client.sandboxes.create({ template: "code-interpreter" });
    try {
      const outcome = await attempt({ ...circumstances(), sandbox });
      const { stdout } = await neighbour.execute("echo undisturbed", { language: "bash" });
      expect(stdout).toBe("undisturbed\n");
      expect((await on.client.health()).status).toBe("healthy");
      outcomes.push(`  ${name}: ${outcome}`);
    } finally {
      await sandbox.delete();
    }
  });

  test.for(byCode.map((attack) => [attack.name, attack] as const))(
    "cannot, without a sandbox, %s",
    { timeout: 240_000 },
    async ([name, { attempt }]) => {
      const execute = on.client.executeIsolated.bind(on.client);
      outcomes.push(
        `  without a sandbox, ${name}: ${await attempt({ ...circumstances(), sandbox: { execute } })}`,
      );
    },
  );
});
