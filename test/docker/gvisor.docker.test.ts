import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDockerServer, withoutGvisor } from "../support/docker/docker-server.js";
import type { LocalServer } from "../support/local-server.js";

const obstacle = withoutGvisor();
if (obstacle !== undefined) test("gVisor", ({ skip }) => skip(obstacle));
else
  describe("a container with gVisor", () => {
    let server: LocalServer;
    let client: SandboxClient;
    beforeAll(async () => {
      server = await startDockerServer({
        args: ["--docker-runtime", "runsc", "--memory-mb", "256", "--pool", "0"],
      });
      client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    });
    afterAll(async () => {
      await client?.close();
      await server?.stop();
    });

    test("is of the level gvisor, because its kernel answers inside", async () => {
      expect(server.isolation).toBe("gvisor");
      await using sandbox = await client.sandboxes.create({ template: "base", minIsolation: "gvisor" });
      expect((await client.sandboxes.get(sandbox.id)).isolation).toBe("gvisor");
      const { stdout } = await sandbox.execute("cat /proc/version", { language: "bash" });
      expect(stdout).toMatch(/Sun Jan 10 15:06:54 PST 2016/);
      await expect(client.sandboxes.create({ template: "base", minIsolation: "microvm" })).rejects.toThrow(
        /"microvm" is not available on this machine, which offers "gvisor"/,
      );
    });

    test("runs programs as code's uid, which has no right over the agent", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      const { stdout } = await sandbox.execute(
        `grep -E '^(Uid|Gid|Groups|Cap(Prm|Eff)):' /proc/self/status | tr -s '\\t ' ' '
for pid in 1 $PPID; do kill -9 $pid 2>/dev/null || echo refused; done
python3 -c 'import os; os.setresuid(0, 0, 0)' 2>/dev/null || echo refused
touch made && stat -c %u:%g made`,
        { language: "bash" },
      );
      expect(stdout.split("\n").map((line) => line.trim())).toEqual([
        ...["Uid: 1000 1000 1000 1000", "Gid: 1000 1000 1000 1000", "Groups:"],
        ...["CapPrm: 0000000000000000", "CapEff: 0000000000000000"],
        ...["refused", "refused", "refused", "1000:1000", ""],
      ]);
    });

    test("runs languages and commands, and tells why a program does not start", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      const run = async (code: string, language: "python" | "javascript" | "bash") =>
        (await sandbox.execute(code, { language })).stdout;
      expect(await run("print(6 * 7)", "python")).toBe("42\n");
      expect(await run("console.log(6 * 7)", "javascript")).toBe("42\n");
      expect(await run("echo $((6 * 7)); exit 3", "bash")).toBe("42\n");
      const absent = await sandbox.commands.stream(["no-such-program"]).result();
      expect(absent).toMatchObject({ exitCode: 127 });
    });

    test("keeps its files when it is stopped, and what runs when it is paused", async () => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      await sandbox.files.write("/workspace/kept.txt", "kept");
      await sandbox.pause();
      await sandbox.resume();
      await sandbox.stop();
      await sandbox.start();
      expect(await sandbox.files.readText("/workspace/kept.txt")).toBe("kept");
    });

    test("that takes all of its memory harms no other", async () => {
      await using neighbour = await client.sandboxes.create({ template: "base" });
      await using sandbox = await client.sandboxes.create({ template: "base" });
      // gVisor ends a program, the agent or the sandbox then.
      const taken = sandbox.execute("print(len(b'x' * 8 * 1024 ** 3))", { language: "python" });
      const stdout = await taken.then(
        (run) => run.stdout,
        () => "",
      );
      expect(stdout).toBe("");
      expect((await neighbour.execute("echo alive", { language: "bash" })).stdout).toBe("alive\n");
    });
  });
