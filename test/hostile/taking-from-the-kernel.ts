import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type Attack, python } from "./attack.js";
import { outcome } from "./taking-over.js";

/** KiB of the kernel's own memory on the host, which no control group limits. */
const kernelMemory = (): number =>
  Number(/^SUnreclaim:\s+(\d+) kB/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1]);

const ended = /ended\. It took too much of the kernel/;

/** Attempts to take what the kernel counts for nobody, or has once for the whole host. */
export const takingFromTheKernel: readonly Attack[] = [
  {
    name: "fill the host's memory with replies of the kernel that nobody reads",
    async attempt({ sandbox }) {
      const before = kernelMemory();
      const run = outcome(
        python(
          sandbox,
          `
import socket, struct, time
request = struct.pack("=IHHII", 32, 18, 1, 1, 0) + struct.pack("=BxHiII", 0, 0, 1, 0, 0)
held, total = [], 0
while total < 400 << 20 and len(held) < 3500:
    one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    one.setblocking(False)
    held.append(one)
    limit = one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) - 200_000
    for number in range(20_000):
        one.send(request)
        if number % 32 == 0 and struct.unpack("=9I", one.getsockopt(1, 55, 36))[0] > limit: break
    total += struct.unpack("=9I", one.getsockopt(1, 55, 36))[0]
time.sleep(30)
print("HELD", total)
`,
        ),
      );
      await expect.poll(async () => (await sandbox.refresh()).status, { timeout: 30_000 }).toBe("error");
      await run;
      expect(await outcome(python(sandbox, "1"))).toMatch(ended);
      await expect.poll(() => kernelMemory() - before).toBeLessThan(64 * 1024);
      return "its sandbox is ended";
    },
  },
  {
    name: "fill the host's memory with locks on files",
    async attempt({ sandbox }) {
      const run = outcome(
        python(
          sandbox,
          `
import fcntl, time
files = [open(f"/tmp/{number}", "w") for number in range(300)]
for place in range(600):
    for file in files: fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
time.sleep(30)
print("HELD")
`,
        ),
      );
      await expect.poll(async () => (await sandbox.refresh()).status, { timeout: 30_000 }).toBe("error");
      await run;
      expect(await outcome(python(sandbox, "1"))).toMatch(ended);
      return "its sandbox is ended";
    },
  },
  {
    name: "take every asynchronous request of the host",
    async attempt({ sandbox, neighbour }) {
      const setup = `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
def setup(count): return libc.syscall(206 if platform.machine() == "x86_64" else 0, count, ctypes.byref(ctypes.c_ulong(0)))
`;
      const run = outcome(
        python(
          sandbox,
          `${setup}
import time
count = 16384
while count >= 1:
    if setup(count): count //= 2
time.sleep(30)
print("HELD")
`,
        ),
      );
      await expect.poll(async () => (await sandbox.refresh()).status, { timeout: 30_000 }).toBe("error");
      await run;
      expect(await outcome(python(sandbox, "1"))).toMatch(ended);
      const other = () => python(neighbour, `${setup}\nprint(setup(64))`);
      await expect.poll(async () => (await other()).stdout).toBe("0\n");
      return "its sandbox is ended, and its neighbour gets some";
    },
  },
  {
    name: "have each crash start a program of the host",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await python(
        sandbox,
        `
import resource, subprocess
for wanted in ((0, 0), (0, 1), (1, 1)):
    resource.setrlimit(resource.RLIMIT_CORE, wanted)
    print(resource.getrlimit(resource.RLIMIT_CORE))
print(subprocess.run(["sh", "-c", "kill -SEGV $$"]).returncode)
`,
      );
      expect(stderr).toBe("");
      expect(stdout).toBe(`${"(1, 1)\n".repeat(3)}-11\n`);
      return "the size of core files stays 1 byte, with which it does not";
    },
  },
  {
    name: "take every instance of inotify of the user who started it",
    async attempt({ sandbox, neighbour }) {
      const take = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def all_of(most, take):
    count = 0
    while count < most and take() >= 0: count += 1
    return count
`;
      const holding = python(
        sandbox,
        `${take}
import time
print(all_of(1000, lambda: libc.inotify_init1(0)) < 1000)
open("/workspace/held", "w").write("held")
while not os.path.exists("/workspace/seen"): time.sleep(0.01)
`,
      );
      const isHeld = () => sandbox.files.readText("/workspace/held").catch(() => "");
      await expect.poll(isHeld).toBe("held");
      const seen = await python(neighbour, `${take}\nprint(all_of(8, lambda: libc.inotify_init1(0)))`);
      await sandbox.files.write("/workspace/seen", "");
      expect((await holding).stdout).toBe("True\n");
      expect(seen.stdout).toBe("8\n");
      return "it gets its share";
    },
  },
  {
    name: "take every terminal of the host",
    async attempt({ sandbox, neighbour }) {
      const holding = python(
        sandbox,
        `
import os, time
held = []
try:
    while True: held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError as error: print(len(held), error.strerror, flush=True)
open("/workspace/held", "w").write("held")
while not os.path.exists("/workspace/seen"): time.sleep(0.01)
`,
      );
      const isHeld = () => sandbox.files.readText("/workspace/held").catch(() => "");
      await expect.poll(isHeld).toBe("held");
      const seen = await python(neighbour, "import pty; print(len(pty.openpty()))");
      await sandbox.files.write("/workspace/seen", "");
      expect(seen.stdout).toBe("2\n");
      expect((await holding).stdout).toBe("64 No space left on device\n");
      return "it gets 64 of them";
    },
  },
];
