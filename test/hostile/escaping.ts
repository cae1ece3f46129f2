import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { hostProcesses } from "../support/host-processes.js";
import { type Attack, bash, type CodeAttack } from "./attack.js";

/** Attempts to get out of the sandbox, or to leave something running in it. */
export const escaping: readonly CodeAttack[] = [
  {
    name: "make namespaces, mounts and devices",
    async attempt({ sandbox, codeIsRoot }) {
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
${codeIsRoot ? "" : "try su -c true"}
try sh -c 'echo 1000000 > /proc/sys/kernel/msgmnb'
try python3 -c 'import fcntl, os; fcntl.fcntl(os.open("/opt/cloud-sandbox/agent/main.cjs", os.O_RDONLY), 1024, fcntl.F_RDLCK)'
try python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)'
echo tried`,
      );
      expect(stdout).toBe("tried\n");
      return "every one refused";
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
];

/** Attempts to outlive a sandbox. */
export const staying: readonly Attack[] = [
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
