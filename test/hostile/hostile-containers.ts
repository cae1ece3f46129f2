import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDockerServer } from "../support/docker/docker-server.js";
import type { LocalServer } from "../support/local-server.js";
import { escaping } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { kernel } from "./kernel.js";
import { reading } from "./reading.js";
import { sharing } from "./sharing.js";
import { takingOver } from "./taking-over.js";

/**
 * Attacks on what bubblewrap's machines are made of, which containers do not have. What holds here in their place is tested
 * in test/docker.
 */
export const notInContainers: Readonly<Record<string, string>> = {
  "read the host's files": "names directories of the host, and an image has some of these names",
  "learn about the host from the kernel's files": "Docker hides files behind /dev/null, which can be opened",
  "make system calls that programs do not need": "the errors of sockets differ",
  "find a file system that the host or another sandbox has too":
    "the host sees the file systems of containers",
  "watch which files the host and other sandboxes open": "no file is of the host",
  "lock files that the host and other sandboxes use": "no file is of the host",
  "become the agent by replacing what it is made of": "the root is read-only, and has no file of that name",
  "run anything as somebody else": "there is a supervisor too",
  "make files without end, which take memory of the host's kernel": "the root is read-only",
  "have the agent wait at pipes in the place of files that it reads": "the root is read-only",
};

const secret = `secret-${randomUUID()}`;

interface HostileContainers {
  /** Where the code is, to go on after "hostile code, ". */
  readonly place: string;
  /** Why there are no such containers here. */
  readonly obstacle: string | undefined;
  readonly args?: readonly string[];
  /** The attacks that are left out, each with the reason. */
  readonly notHere: Readonly<Record<string, string>>;
}

/** Makes the attacks from sandboxes that are containers. */
export function hostileContainers({ place, obstacle, args = [], notHere }: HostileContainers): void {
  describe(`hostile code, ${place}`, () => {
    if (obstacle !== undefined) {
      test("has a daemon", ({ skip }) => skip(obstacle));
      return;
    }
    const outcomes: string[] = [];
    let directory: string;
    let server: LocalServer;
    let client: SandboxClient;
    let neighbour: Sandbox;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "host-secret-"));
      await writeFile(join(directory, "secret.txt"), secret);
      const limits = ["--memory-mb", "256", "--disk-mb", "64", "--max-processes", "96", "--pool", "1"];
      server = await startDockerServer({
        apiKey: secret,
        env: { HOST_SECRET: secret },
        args: [...limits, ...args],
      });
      client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      neighbour = await client.sandboxes.create({ template: "code-interpreter" });
    });

    afterAll(async () => {
      await client?.close();
      await server?.stop();
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
      if (outcomes.length > 0) console.log(`Hostile code, ${place}:\n${outcomes.join("\n")}`);
    });

    test.for(
      [...reading, ...kernel, ...sharing, ...escaping, ...takingOver, ...exhausting]
        .filter(({ name }) => !(name in notHere))
        .map((attack) => [attack.name, attack] as const),
    )("cannot %s", { timeout: 240_000 }, async ([name, { attempt }]) => {
      const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
      try {
        const hostFiles = [join(directory, "secret.txt")];
        const outcome = await attempt({
          client,
          sandbox,
          neighbour,
          server,
          secret,
          hostFiles,
          isRoot: true,
          agentIsApart: true,
          codeIsRoot: false,
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
}
