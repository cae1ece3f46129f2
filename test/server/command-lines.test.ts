import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";
import { archiveOf, TemplateBuilding } from "../support/template-building.js";

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

describe.each(startedBy)("a server that %s started", (who) => {
  const obstacle = cannotStartAs(who);
  let place: string;
  let server: LocalServer;
  let client: SandboxClient;
  let templates: TemplateBuilding;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    place = await mkdtemp(join(tmpdir(), "shown-"));
    await chmod(place, 0o777);
    server = await startLocalServer({ who, args: ["--pool", "1", "--data-dir", join(place, "data")] });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    templates = new TemplateBuilding(server);
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    if (place !== undefined) await rm(place, { recursive: true, force: true });
  });

  test("tells other users of the host no id, code, value or archive", { timeout: 120_000 }, async ({
    skip,
  }) => {
    skip(obstacle !== undefined, obstacle);
    const shown = new ShownToAll();
    const secret = (name: string): string => `${name}-${randomUUID()}`;
    const [code, command, step, value] = [secret("code"), secret("command"), secret("step"), secret("value")];
    const { hash } = await templates.upload(await archiveOf({ "letter.txt": secret("letter") }));
    const { status, log } = await templates.build({
      name: "shown",
      steps: [
        { type: "ENV", key: "VALUE", value },
        { type: "COPY", args: [".", "/workspace"], filesHash: hash },
        { type: "RUN", args: [`: ${step}; for i in $(seq 20); do sleep 0.05; done`] },
      ],
    });
    expect([status, log]).toEqual(["active", expect.stringContaining("sleep")]);
    const sandbox = await client.sandboxes.create({ template: "shown", env: { VALUE: value } });
    const pause = "for i in $(seq 10); do sleep 0.05; done";
    await sandbox.execute(`: ${code}; ${pause}`, { language: "bash" });
    await sandbox.commands.run(`: ${command}; ${pause}`);
    await sandbox.execute(`secret = "${code}"\nimport time; time.sleep(0.5)`, { language: "python" });
    await sandbox.execute("head -c 30000000 /dev/urandom > large", { language: "bash" });
    await sandbox.stop();
    const kept = join(place, "data", "files");
    const names = await readdir(kept);
    const modes = await Promise.all(names.map(async (name) => (await stat(join(kept, name))).mode & 0o777));
    await sandbox.start();
    const { stdout } = await sandbox.execute("cat letter.txt; stat -c %s large", { language: "bash" });
    expect(stdout).toMatch(/^letter-\S+30000000\n$/);
    const seen = await shown.end();
    await sandbox.delete();

    expect(seen.some((line) => line.includes("bwrap"))).toBe(true);
    const archive = createHash("sha256").update(hash).digest("hex");
    const needles = [sandbox.id, code, command, step, value, archive, join(place, "data/")];
    expect(seen.filter((line) => needles.some((needle) => line.includes(needle)))).toEqual([]);
    expect(modes).toEqual(names.map(() => 0o600));
    expect(names.length).toBeGreaterThan(0);
  });
});

/** Collects the command lines of all processes until it is ended. Every user of this machine can read those. */
class ShownToAll {
  readonly #lines = new Set<string>();
  #isEnding = false;
  readonly #collected = this.#collect();

  async end(): Promise<string[]> {
    this.#isEnding = true;
    await this.#collected;
    return [...this.#lines];
  }

  async #collect(): Promise<void> {
    while (!this.#isEnding) {
      for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        this.#note(`/proc/${pid}/cmdline`, "\0");
        this.#note(`/proc/${pid}/cgroup`, "\n");
      }
      this.#note("/proc/net/unix", "\n");
      await turn();
    }
  }

  #note(path: string, separator: string): void {
    try {
      this.#lines.add(
        path.endsWith("cmdline")
          ? readFileSync(path, "utf8").replaceAll(separator, " ")
          : readFileSync(path, "utf8")
              .split(separator)
              .filter((line) => line.includes("cloud-sandbox"))
              .map((line) => line.slice(line.indexOf(path.endsWith("unix") ? " /" : "/")))
              .join("\n"),
      );
    } catch {
      // The process ended while the list was read.
    }
  }
}
