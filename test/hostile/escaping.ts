import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isSandboxError } from "cloud-sandbox";
import { expect } from "vitest";
import { hostProcesses } from "../support/host-processes.js";
import { type Attack, bash, python } from "./attack.js";

/** Attempts to get out, to take the agent's place, or to stay. */
export const escaping: readonly Attack[] = [
  {
    name: "make namespaces, mounts and devices",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        `
try() { "$@" >/dev/null 2>&1 && echo "DONE: $*"; }
try unshare --user --map-root-user true
try unshare --net true
try unshare --mount true
try mount -t tmpfs none /tmp
try mount -t proc none /tmp
try mount --bind /usr /tmp
try umount /usr
try chroot / true
try mknod /tmp/disk b 8 0
try mknod /tmp/memory c 1 1
try dd if=/dev/mem of=/dev/null bs=1 count=1
try dd if=/dev/kmsg of=/dev/null bs=1 count=1
try dd if=/dev/vda of=/dev/null bs=1 count=1
try dd if=/dev/sda of=/dev/null bs=1 count=1
try nsenter --target 1 --mount true
try sh -c 'echo x > /proc/sys/kernel/hostname'
try sh -c 'echo b > /proc/sysrq-trigger'
try hostname other
try touch /opt/cloud-sandbox/planted
try touch /opt/cloud-sandbox/usr/bin/planted
try mv /opt/cloud-sandbox /opt/moved
try sh -c 'echo /tmp/mine.so > /etc/ld.so.preload'
try rm -f /etc/ld.so.preload
try chmod 755 /opt/cloud-sandbox/loader
try su -c true
try sh -c 'echo 1000000 > /proc/sys/kernel/msgmnb'
try python3 -c 'import fcntl, os; fcntl.fcntl(os.open("/opt/cloud-sandbox/agent/main.js", os.O_RDONLY), 1024, fcntl.F_RDLCK)'
try python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)'
echo tried`,
      );
      expect(stdout).toBe("tried\n");
      return "every one refused";
    },
  },
  {
    name: "read and change the agent's memory",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await python(
        sandbox,
        `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, result): print(name, "refused" if result < 0 else "DONE")
def opened(path, flags):
    try:
        os.close(os.open(path, flags)); return 0
    except OSError: return -1
agent = os.getppid()
for pid in (1, agent):
    refused("attach", libc.ptrace(16, pid, 0, 0))
    refused("seize", libc.ptrace(0x4206, pid, 0, 0))
    for name, flags in (("mem", os.O_RDONLY), ("mem", os.O_RDWR), ("environ", os.O_RDONLY), ("maps", os.O_RDONLY)):
        refused(name, opened("/proc/%d/%s" % (pid, name), flags))
    try: os.listdir("/proc/%d/fd" % pid); print("fd DONE")
    except OSError: print("fd refused")
    buffer = ctypes.create_string_buffer(8)
    class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
    local = iovec(ctypes.addressof(buffer), 8)
    refused("process_vm_readv", libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(local), 1, 0))
    pidfd = libc.syscall(434, pid, 0)
    refused("pidfd_getfd", libc.syscall(438, pidfd, 3, 0))
`,
      );
      expect(stderr).toBe("");
      expect(stdout).not.toContain("DONE");
      expect(stdout.match(/refused/g)?.length).toBe(18);
      return "every one refused, though it runs under the same uid";
    },
  },
  {
    name: "kill the agent and answer in its place",
    async attempt({ sandbox }) {
      const before = await sandbox.system.health();
      await sandbox.files.write(
        "/workspace/impostor.py",
        `
import http.server, os, socketserver
class Impostor(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{"status":"healthy","agent":"IMPOSTOR","stdout":"IMPOSTOR"}')
    do_GET = do_POST = answer
socketserver.TCPServer(("0.0.0.0", 7777), Impostor).serve_forever()
`,
      );
      await bash(sandbox, "setsid nohup python3 /workspace/impostor.py >/dev/null 2>&1 &");
      for (const attempt of ["kill -9 $PPID; sleep 5", "kill -9 1; kill -9 -1; sleep 5"]) {
        const killed = await bash(sandbox, attempt).catch((error: unknown) => error);
        expect(isSandboxError(killed) && killed.code).toBe("EXECUTION_INTERRUPTED");
        await bash(sandbox, "setsid nohup python3 /workspace/impostor.py >/dev/null 2>&1 &");
      }
      const after = await bash(sandbox, "echo served by the agent");
      expect(after.stdout).toBe("served by the agent\n");
      expect(await sandbox.system.health()).toMatchObject({ healthy: true, version: before.version });
      return "the running call fails as EXECUTION_INTERRUPTED, and the agent is back for the next";
    },
  },
  {
    name: "change the host's files, or another sandbox's, by changing its own",
    async attempt({ sandbox, neighbour }) {
      const places = ["/usr/bin", "/usr/lib", "/usr/local/bin", "/usr/share", "/etc", "/"];
      const planted = "cloud-sandbox-planted";
      const before = await readFile("/usr/bin/env");
      await bash(
        sandbox,
        `for place in ${places.join(" ")}; do echo planted > $place/${planted}; done
printf changed >> /usr/bin/env; printf changed > /tmp/env; mv -f /tmp/env /usr/bin/env; chmod 4777 /usr/bin/env /usr/bin
rm -rf /usr/share/doc /usr/local /etc/hosts /etc/passwd; true`,
      );
      for (const place of places) expect(existsSync(`${place}/${planted}`)).toBe(false);
      expect(before.equals(await readFile("/usr/bin/env"))).toBe(true);
      const { stdout } = await bash(
        neighbour,
        `find ${places.join(" ")} -maxdepth 1 -name ${planted}; /usr/bin/env true && test -s /etc/passwd && ls -d /usr/local`,
      );
      expect(stdout).toBe("/usr/local\n");
      return "seen by nobody else";
    },
  },
  {
    name: "become the agent by replacing what it is made of",
    async attempt({ sandbox }) {
      const before = await sandbox.system.health();
      const killed = await bash(
        sandbox,
        `printf '#!/bin/sh\necho IMPOSTOR\n' > /tmp/impostor; chmod +x /tmp/impostor
for program in node sh dash; do cp -f /tmp/impostor /usr/bin/other; mv -f /usr/bin/other "$(readlink -f /usr/bin/$program)"; done
for library in /usr/lib/*/libstdc++.so.6* /usr/lib64/libstdc++.so.6*; do echo broken > /usr/lib/broken; mv -f /usr/lib/broken "$library"; done
kill -9 $PPID; sleep 5`,
      ).catch((error: unknown) => error);
      expect(isSandboxError(killed) && killed.code).toBe("EXECUTION_INTERRUPTED");
      expect(await sandbox.system.health()).toMatchObject({ healthy: true, version: before.version });
      return "started anew from what cannot be changed";
    },
  },
  {
    name: "leave a process behind",
    async attempt({ sandbox }) {
      await bash(
        sandbox,
        "for i in 1 2 3; do setsid nohup sleep 98765.4321 >/dev/null 2>&1 & done; (trap '' TERM HUP; sleep 98765.4321) >/dev/null 2>&1 &",
      );
      const left = (): number =>
        hostProcesses().filter(({ commandLine }) => commandLine.includes("98765.4321")).length;
      expect(left()).toBeGreaterThan(0);
      await sandbox.delete();
      expect(left()).toBe(0);
      return "all gone when delete answers";
    },
  },
];
