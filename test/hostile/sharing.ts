import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type Attack, bash, type CodeAttack, type Place, python, type Target } from "./attack.js";

/** How many times the host opens each of its files: more often than programs in a sandbox do by themselves. */
const opens = 400;

const egressSocket = "/opt/cloud-sandbox/egress";

/** Attempts to find something that others have too. */
export const finding: readonly CodeAttack[] = [
  {
    name: "find a file system that the host or another sandbox has too",
    async attempt({ sandbox, neighbour, isRoot }) {
      const ofHost = () => readFileSync("/proc/self/mountinfo", "utf8");
      const before = devices(ofHost());
      const [own, next] = await Promise.all([mounts(sandbox), mounts(neighbour)]);
      // Linux gives the number of a file system that another test has unmounted to the next one.
      const after = new Set(devices(ofHost()).map(({ device }) => device));
      const host = before.filter(({ device }) => after.has(device));
      const foreign = new Set([...devices(next), ...host].map(({ device }) => device));
      const shared = devices(own).filter(({ device }) => foreign.has(device));
      // The egress socket belongs to this sandbox. Only root gets devices that can be opened.
      const others = shared.map(({ target }) => target).filter((target) => target !== egressSocket);
      expect(others.sort()).toEqual(isRoot ? [] : hostDevices.toSorted());
      return isRoot ? "none: every inode is its own" : "none but the device nodes, as doctor says";
    },
  },
];

/** Attempts to learn from, or to disturb, the host and other sandboxes through files that all of them read. */
export const sharing: readonly Attack[] = [
  {
    name: "meet others at what hides the kernel's files",
    async attempt({ sandbox, neighbour }) {
      const inode = `import os; print([(s.st_dev, s.st_ino) for s in map(os.stat, ["/proc/cmdline", "/proc/acpi", "/proc/fs"])])`;
      const lock = `import fcntl, os
file = os.open("/proc/cmdline", os.O_RDONLY); directory = os.open("/proc/fs", os.O_RDONLY)
for place in (file, directory): fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("locked")`;
      const [own, other] = await Promise.all([python(sandbox, inode), python(neighbour, inode)]);
      expect(own.stdout).not.toBe(other.stdout);
      const first = await python(sandbox, lock);
      const second = await python(neighbour, lock);
      expect([first.stdout, second.stdout]).toEqual(["locked\n", "locked\n"]);
      return "each sandbox has its own";
    },
  },
  {
    name: "watch which files the host and other sandboxes open",
    async attempt(target) {
      const { sandbox, neighbour, isRoot } = target;
      await sandbox.files.write("/workspace/watch.py", watcher);
      await bash(
        sandbox,
        "setsid nohup python3 watch.py >log 2>&1 & until [ -e ready ] || [ -s log ]; do sleep 0.05; done",
      );
      for (const path of hostFiles(target)) {
        for (let count = 0; count < opens; count += 1) closeSync(openSync(path, "r"));
      }
      await bash(neighbour, `for i in $(seq ${opens}); do read -r line < /opt/cloud-sandbox/init; done`);
      const { stdout } = await bash(
        sandbox,
        "touch stop; until [ -e seen ]; do sleep 0.05; done; cat log seen",
      );
      const seen = Object.entries(JSON.parse(stdout) as Record<string, number>);
      expect(seen.length).toBeGreaterThan(0);
      const often = seen.filter(([, count]) => count >= opens).map(([path]) => path);
      expect(often.filter((path) => isRoot || !hostDevices.includes(path))).toEqual([]);
      return "sees its own only";
    },
  },
  {
    name: "lock files that the host and other sandboxes use",
    async attempt(target) {
      const { sandbox, neighbour, isRoot } = target;
      await sandbox.files.write("/workspace/lock.py", locker);
      await bash(
        sandbox,
        "setsid nohup python3 lock.py >log 2>&1 & until [ -e ready ] || [ -s log ]; do sleep 0.05; done",
      );
      expect(Number((await bash(sandbox, "cat log ready")).stdout)).toBeGreaterThan(100);
      const free = (path: string): boolean => spawnSync("flock", ["--nonblock", path, "true"]).status === 0;
      const locked = hostFiles(target).filter((path) => !free(path));
      expect(locked.filter((path) => isRoot || !hostDevices.includes(path))).toEqual([]);
      const { stdout } = await python(neighbour, tryLocks(isRoot ? ["/dev/null", "/dev/zero"] : []));
      expect(stdout).toBe("all free\n");
      return "locks its own only";
    },
  },
];

/** Devices that bubblewrap binds from the host if the server's user may not create device nodes. */
const hostDevices = ["null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`);

/** Files of the host that sandboxes read, directly or as copies. */
function hostFiles({ server, sandbox }: Target): string[] {
  const instance = readdirSync(tmpdir()).find(
    (name) => name.startsWith(`cloud-sandbox-${server.pid}-`) && existsSync(join(tmpdir(), name, "parts")),
  );
  expect([instance, sandbox.id]).not.toContain(undefined);
  const parts = join(tmpdir(), instance ?? "", "parts");
  return [
    ...["agent/main.cjs", "agent/program.cache", "init", "nothing"].map((name) => join(parts, name)),
    ...["/usr/bin/env", "/usr/bin/bash", "/etc/ld.so.cache", "/etc/ssl/certs/ca-certificates.crt"].map(
      (path) => realpathSync(path),
    ),
    ...["/proc/sys/kernel/hostname", "/dev/null", "/dev/zero"],
  ];
}

async function mounts(sandbox: Place): Promise<string> {
  return (await bash(sandbox, "cat /proc/self/mountinfo")).stdout;
}

function devices(table: string): { device: string; target: string }[] {
  return table
    .trim()
    .split("\n")
    .map((line) => line.split(" "))
    .map(([, , device = "", , target = ""]) => ({ device, target }));
}

/** Places that hosts and other sandboxes are known to open, and everything else below each mount. */
const places = `
import os
known = ["/usr/bin/env", "/usr/bin/bash", "/etc/ld.so.cache", "/etc/ssl/certs/ca-certificates.crt", "/proc/sys/kernel/hostname",
         "/opt/cloud-sandbox/agent/main.cjs", "/opt/cloud-sandbox/agent/program.cache", "/opt/cloud-sandbox/init",
         "/opt/cloud-sandbox/nothing", "/dev/null", "/dev/zero"]
def places():
    found = dict.fromkeys(known)
    for line in open("/proc/self/mountinfo"):
        top = line.split(" ")[4]
        if top.startswith(("/proc", "/workspace", "/home", "/run")) and top != "/proc/sys": continue
        found[top] = None
        for depth, (directory, names, files) in enumerate(os.walk(top)):
            if depth > 20: break
            found[directory] = None
            found.update(dict.fromkeys(os.path.join(directory, name) for name in files[:100]))
    return list(found)
`;

const watcher = `${places}
import ctypes, json, struct, time
libc = ctypes.CDLL(None, use_errno=True)
queue = libc.inotify_init1(os.O_NONBLOCK)
watched = {}
for path in places():
    number = libc.inotify_add_watch(queue, path.encode(), 0xFFF)
    if number > 0: watched.setdefault(number, os.path.realpath(path))
open("ready", "w").close()
counts = {path: 0 for path in list(watched.values())[:1]}
def drain():
    while True:
        try: data = os.read(queue, 1 << 16)
        except BlockingIOError: return
        while data:
            number, _, _, length = struct.unpack_from("iIII", data)
            data = data[16 + length:]
            path = watched.get(number, "?")
            counts[path] = counts.get(path, 0) + 1
while not os.path.exists("stop"):
    drain()
    time.sleep(0.01)
drain()
with open("seen.partial", "w") as file: json.dump(counts, file)
os.rename("seen.partial", "seen")
`;

const locker = `${places}
import fcntl, time
held = []
for path in places():
    try: file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError: continue
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(file)
    except OSError: os.close(file)
    if len(held) > 300: break
with open("ready.partial", "w") as file: file.write(str(len(held)))
os.rename("ready.partial", "ready")
time.sleep(3600)
`;

const tryLocks = (more: readonly string[]): string => `
import fcntl, os
taken = []
for path in ("/opt/cloud-sandbox/agent/main.cjs", "/opt/cloud-sandbox/init", "/usr/bin/env", "/etc/ld.so.cache", *${JSON.stringify(more)}):
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: taken.append(path)
    os.close(file)
print(taken or "all free")
`;
