import { expect } from "vitest";
import { type Attack, bash, python } from "./attack.js";
import { outcome } from "./taking-over.js";

/** Attempts to use up resources that sandboxes share. */
export const exhausting: readonly Attack[] = [
  {
    name: "fork without end",
    async attempt({ sandbox, countsProcesses = true }) {
      const bomb = bash(sandbox, "bomb() { bomb | bomb & }; bomb; sleep 60", 1);
      const end = await outcome(bomb.then((run) => ({ ...run, stdout: String(run.terminationReason) })));
      const after = () => outcome(bash(sandbox, "echo free"));
      if (!countsProcesses) {
        await expect.poll(after, { timeout: 60_000 }).toMatch(/^free\n$|has failed/);
        return `${end}; ${(await after()) === "free\n" ? "the sandbox goes on" : "the sandbox ends"}`;
      }
      expect(end).toBe("timeout");
      await expect.poll(after, { timeout: 60_000 }).toBe("free\n");
      return "stopped by the limit on processes and by the timeout; the sandbox goes on";
    },
  },
  {
    name: "take 10 GB of memory at once",
    async attempt({ sandbox }) {
      const { exitCode, stderr } = await python(sandbox, "data = bytearray(10 * 1024 ** 3)");
      expect(exitCode).not.toBe(0);
      expect(stderr).toMatch(/memory/i);
      return "MemoryError";
    },
  },
  {
    name: "take 10 GB of memory in shared pages",
    async attempt({ sandbox }) {
      const run = await python(
        sandbox,
        `
import mmap
chunks = []
for _ in range(160):
    chunk = mmap.mmap(-1, 64 * 1024 ** 2)
    for page in range(0, len(chunk), 4096): chunk[page] = 1
    chunks.append(chunk)
print("TOOK IT ALL")
`,
        60,
      );
      expect(run.stdout).toBe("");
      expect(run.exitCode).not.toBe(0);
      expect(run.stderr).toMatch(/memory|not permitted/i);
      return run.terminationReason === "out_of_memory" ? "out_of_memory, said so" : "refused by the kernel";
    },
  },
  {
    name: "take 2 GB of memory in many processes",
    async attempt({ sandbox }) {
      const run = await python(
        sandbox,
        `
import os, time
children = []
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        data = [b"x" * 1024 * 1024 * (i + 1) for i in range(20)]
        time.sleep(3)
        os._exit(0)
    children.append(pid)
lost = sum(1 for pid in children if os.WIFSIGNALED(os.waitpid(pid, 0)[1]))
print("lost", lost)
`,
        60,
      );
      expect(run.terminationReason === "out_of_memory" || /^lost [1-9]/.test(run.stdout)).toBe(true);
      await expect.poll(async () => outcome(bash(sandbox, "echo free")), { timeout: 60_000 }).toBe("free\n");
      return `${run.terminationReason === "out_of_memory" ? "out_of_memory" : run.stdout.trim()}; the sandbox goes on`;
    },
  },
  {
    name: "fill every disk",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await bash(
        sandbox,
        'for place in /workspace /tmp /home/sandbox /dev/shm /run / /dev /etc; do dd if=/dev/zero of=$place/fill bs=1M count=2000 2>&1 | grep -c "No space left"; done; true',
      );
      expect(stdout + stderr).toContain("1");
      const full = await outcome(sandbox.files.write("/workspace/more.bin", "x".repeat(200_000)));
      expect(full).toMatch(/space|full/i);
      const { stdout: listed } = await bash(sandbox, "ls /workspace; rm -f /workspace/fill /tmp/fill");
      expect(listed).toContain("fill");
      await sandbox.files.write("/workspace/more.bin", "fits now");
      return "No space left on device, inside; what it writes counts as its own";
    },
  },
  {
    name: "make files without end, which take memory of the host's kernel",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await python(
        sandbox,
        `
import os
for place in ("/workspace", "/tmp", "/home/sandbox", "/dev/shm", "/run", "/", "/usr/local"):
    made = 0
    try:
        while made < 100_000:
            os.mknod(f"{place}/{made}")
            made += 1
    except OSError as error: print(error.strerror)
    for number in range(made): os.unlink(f"{place}/{number}")
`,
        60,
      );
      expect(stderr).toBe("");
      expect(stdout).toBe("No space left on device\n".repeat(7));
      return "No space left on device: no more of them than the disk has pages";
    },
  },
  {
    name: "print without end",
    async attempt({ sandbox }) {
      const endless = "yes 'a line that is printed without end' & yes >&2";
      let run = await bash(sandbox, endless, 1);
      // On a busy machine it takes longer to print too much.
      if (!run.output.stdout.truncated) run = await bash(sandbox, endless, 10);
      expect(run.terminationReason).toBe("timeout");
      expect(run.stdout.length + run.stderr.length).toBeLessThan(8 * 1024 * 1024);
      expect(run.output.stdout.truncated).toBe(true);
      return "cut, with the count; stopped by the timeout";
    },
  },
  {
    name: "have the agent start for ever",
    async attempt({ sandbox, agentIsApart }) {
      await sandbox.files.write(
        "/workspace/kill.py",
        `
import os, signal
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as command, open(f"/proc/{pid}/stat") as stat:
                if command.read().endswith("main.cjs\\0") and stat.read().rsplit(")")[1].split()[1] == "1":
                    os.kill(int(pid), signal.SIGKILL)
        except OSError: pass
`,
      );
      await outcome(bash(sandbox, "setsid nohup python3 kill.py >/dev/null 2>&1 & sleep 2"));
      if (agentIsApart) {
        expect((await bash(sandbox, "echo served")).stdout).toBe("served\n");
        return "it cannot be killed";
      }
      await expect.poll(async () => (await sandbox.refresh()).status, { timeout: 150_000 }).toBe("error");
      return "after a hundred starts the sandbox has failed";
    },
  },
  {
    name: "set limits for the agent and the init",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await bash(
        sandbox,
        `python3 - $PPID <<'END'
import resource, sys
for pid in (1, int(sys.argv[1])):
    for name in ("NOFILE", "NPROC", "CPU", "DATA", "FSIZE"):
        try: resource.prlimit(pid, getattr(resource, "RLIMIT_" + name), (0, 0)); print(pid, name, "DONE")
        except PermissionError: print("refused")
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
END`,
      );
      expect(stderr).toBe("");
      expect(stdout).toBe("refused\n".repeat(10));
      expect((await bash(sandbox, "echo served")).stdout).toBe("served\n");
      return "refused; its own it may set";
    },
  },
  {
    name: "ignore SIGTERM",
    async attempt({ sandbox }) {
      const started = performance.now();
      const run = await bash(
        sandbox,
        "trap '' TERM INT HUP; setsid sleep 43210 & while :; do sleep 43210; done",
        1,
      );
      expect(run.terminationReason).toBe("timeout");
      expect(performance.now() - started).toBeLessThan(40_000);
      const { stdout } = await bash(
        sandbox,
        "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[4]3210'; true",
      );
      expect(stdout).toBe("0\n");
      return "killed with all its children soon after the timeout";
    },
  },
  {
    name: "have the agent wait at pipes in the place of files that it reads",
    async attempt({ sandbox }) {
      const places = [
        ...["/etc/passwd", "/etc/os-release", "/usr/lib/os-release"],
        ...["cpu.stat", "cpu.max", "memory.events", "memory.current", "memory.stat"].map(
          (name) => `/sys/fs/cgroup/${name}`,
        ),
      ];
      const { stdout } = await bash(
        sandbox,
        `for place in ${places.join(" ")}; do rm -f $place; mkfifo $place && echo $place; done 2>/dev/null; true`,
      );
      expect(stdout).toContain("/etc/passwd\n");
      // Use more pipes than the agent has threads for files.
      for (let round = 0; round < 8; round += 1) {
        const [machine, processes] = await Promise.all([
          sandbox.system.machine(),
          sandbox.system.processes(),
        ]);
        expect(machine.os).toBeDefined();
        expect(processes.length).toBeGreaterThan(1);
      }
      expect((await bash(sandbox, "echo served")).stdout).toBe("served\n");
      await sandbox.files.write("/workspace/written", "");
      expect((await sandbox.files.list("/workspace")).entries.length).toBe(1);
      return "it reads ordinary files only";
    },
  },
];
