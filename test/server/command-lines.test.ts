import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";
import { descendants, hostProcesses } from "../support/host-processes.js";
import { archiveOf } from "../support/template-building.js";

const args = (place: string) => ["--pool", "1", "--data-dir", join(place, "data")];

describeForBothUsers("a server that %s started", { args }, (on) => {
  test("tells other users of the host no id, code, value or archive", { timeout: 120_000 }, async () => {
    const { server, client, templates, place } = on;
    const shown = new ShownToAll(server.pid);
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

/**
 * Collects the command lines of the server and of all processes that start while it collects. Every user of this machine
 * can read those.
 */
class ShownToAll {
  readonly #lines = new Set<string>();
  /** Processes that ran before, and are not the server's. They cannot know what the test makes up. */
  readonly #others: Set<string>;
  #isEnding = false;
  readonly #collected: Promise<void>;

  constructor(server: number) {
    this.#others = new Set(hostProcesses().map(({ pid }) => String(pid)));
    for (const pid of [server, ...descendants(server).map(({ pid }) => pid)])
      this.#others.delete(String(pid));
    this.#collected = this.#collect();
  }

  async end(): Promise<string[]> {
    this.#isEnding = true;
    await this.#collected;
    return [...this.#lines];
  }

  async #collect(): Promise<void> {
    while (!this.#isEnding) {
      const pids = new Set(readdirSync("/proc").filter((name) => /^\d+$/.test(name)));
      // A number that is free again may be the next process's.
      for (const pid of this.#others) if (!pids.has(pid)) this.#others.delete(pid);
      for (const pid of pids) {
        if (this.#others.has(pid)) continue;
        this.#note(`/proc/${pid}/cmdline`, "\0");
        this.#note(`/proc/${pid}/cgroup`, "\n");
      }
      this.#note("/proc/net/unix", "\n");
      await pass(10);
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
