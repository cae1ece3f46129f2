import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";
import type { Attack, Target } from "./attack.js";

/** What a server of this suite is started with. */
export interface HostileServerOptions {
  readonly apiKey: string;
  readonly env: Record<string, string>;
  readonly args: readonly string[];
}

interface HostileSuite extends Pick<Target, "isRoot" | "agentIsApart" | "codeIsRoot" | "countsProcesses"> {
  /** Where the code is, to go on after "hostile code, ". */
  readonly place: string;
  /** Why there are no such sandboxes here. Undefined if there are. */
  readonly obstacle: string | undefined;
  readonly start: (options: HostileServerOptions) => Promise<LocalServer>;
  readonly attacks: readonly Attack[];
  /** The attacks that are left out, each with the reason. */
  readonly notHere: Readonly<Record<string, string>>;
}

/** Makes the attacks, each from a sandbox of its own on one server. */
export function hostileSuite({ place, obstacle, start, attacks, notHere, ...position }: HostileSuite): void {
  describe(`hostile code, ${place}`, () => {
    if (obstacle !== undefined) {
      test("is tried", ({ skip }) => skip(obstacle));
      return;
    }
    const secret = `secret-${randomUUID()}`;
    const outcomes: string[] = [];
    let directory: string;
    let server: LocalServer;
    let client: SandboxClient;
    let neighbour: Sandbox;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "host-secret-"));
      await writeFile(join(directory, "secret.txt"), secret);
      server = await start({
        apiKey: secret,
        env: { HOST_SECRET: secret },
        args: ["--memory-mb", "256", "--disk-mb", "64", "--max-processes", "96", "--pool", "1"],
      });
      client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      neighbour = await client.sandboxes.create({ template: "code-interpreter" });
    });

    afterAll(async () => {
      await client?.close();
      if (server) expect(await server.stop()).toEqual({ code: 0, signal: null });
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
      if (outcomes.length > 0) console.log(`Hostile code, ${place}:\n${outcomes.join("\n")}`);
    });

    test("leaves out only attacks that exist", () => {
      const names = attacks.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(Object.keys(notHere)));
    });

    test.for(
      attacks.filter(({ name }) => !(name in notHere)).map((attack) => [attack.name, attack] as const),
    )("cannot %s", { timeout: 240_000 }, async ([name, { attempt }]) => {
      const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
      try {
        const hostFiles = [join(directory, "secret.txt")];
        const outcome = await attempt({
          ...{ client, server, sandbox, neighbour, secret, hostFiles },
          ...position,
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
