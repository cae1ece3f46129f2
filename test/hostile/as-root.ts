import { statSync } from "node:fs";
import { expect } from "vitest";
import { hostProcesses } from "../support/host-processes.js";
import { type Attack, bash, python } from "./attack.js";
import { findAgents } from "./programs.js";

/** Attempts that only root inside can make: those for which a uid of 0 or a capability would be enough elsewhere. */
export const asRoot: readonly Attack[] = [
  {
    name: "use what root may do on a machine of its own",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        `
try() { "$@" >/dev/null 2>&1 && echo "DONE: $*"; }
mkdir -p /tmp/a /tmp/b /tmp/c /tmp/d
for type in proc sysfs tmpfs devpts mqueue cgroup cgroup2 bpf debugfs tracefs securityfs fuse ramfs; do try mount -t $type $type /tmp/a; done
try mount -t overlay -o lowerdir=/tmp/a,upperdir=/tmp/b,workdir=/tmp/c overlay /tmp/d
try mount -o remount,rw /proc/sys
try mount -o remount,rw,suid,dev /
try mount -o remount,rw /opt/cloud-sandbox
try mount --bind /proc /tmp/a
try umount -l /proc/sys
for kind in user net mount pid ipc uts cgroup time; do try unshare --$kind true; done
try mknod /tmp/null c 1 3
try mknod /tmp/whiteout c 0 0
try mknod /tmp/loop b 7 0
try mknod /dev/kmsg c 1 11
try chroot /tmp /bin/true
try hostname other
try date -s 2000-01-01
try sysctl -w net.ipv4.ip_forward=1
try sysctl -w kernel.core_pattern=/tmp/x
try sh -c 'echo 1 > /proc/sys/net/ipv4/ip_unprivileged_port_start'
try sh -c 'echo 5 > /proc/sys/user/max_user_namespaces'
try sh -c 'echo -1000 > /proc/self/oom_score_adj'
try sh -c 'for file in $(find /sys/fs/cgroup -type f); do echo 999999999 > $file && exit 0; done; exit 1'
try sh -c 'ulimit -Hn 1000000'
try sh -c 'ulimit -Hu 1000000'
try nice -n -5 sh -c '[ "$(nice)" -lt 0 ]'
try chrt -f 1 true
try swapon /tmp/swap
try insmod /tmp/module.ko
try modprobe dummy
try dmesg
try reboot -f
try chown 65536 /tmp/a
try chown 4294967294 /tmp/a
try chown root /opt/cloud-sandbox/agent/main.cjs
try chmod 777 /opt/cloud-sandbox
try chmod 4755 /opt/cloud-sandbox/loader
try chattr +i /etc/passwd
try setfattr -n trusted.overlay.opaque -v y /tmp/a
try setcap cap_sys_admin+ep /usr/bin/env
try ip link add dummy0 type dummy
try ip link set lo down
try ip addr add 10.0.0.1/8 dev lo
try iptables -L
try nft list tables
try tc qdisc add dev lo root netem
try losetup -f
try dd if=/dev/fuse of=/dev/null count=0
echo tried`,
        120,
      );
      expect(stdout).toBe("tried\n");
      return "every one refused";
    },
  },
  {
    name: "make system calls that need a capability",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `
import ctypes, errno, os, platform, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
x64 = platform.machine() == "x86_64"
def call(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) < 0:
        raise OSError(ctypes.get_errno(), "")
    print("DONE", number)
def attempt(work, *given):
    try: work(*given)
    except OSError: print("refused")
    else: print("DONE", work, given)
netlink = lambda protocol: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
attempt(socket.socket, socket.AF_PACKET, socket.SOCK_RAW, 3)
attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
attempt(socket.socket, socket.AF_INET6, socket.SOCK_RAW, 58)
for protocol in (4, 9, 12, 15, 16): attempt(netlink, protocol)
page = ctypes.create_string_buffer(4096)
numbers = (321, 250, 248, 425, 101, 298, 323, 155, 165, 166, 428, 429, 430, 442, 308, 272, 303, 304, 175, 313, 169, 246, 167, 227, 171, 170, 300)
others = (280, 219, 217, 425, 117, 241, 282, 41, 40, 39, 428, 429, 430, 442, 268, 97, 264, 265, 105, 273, 142, 104, 224, 112, 162, 161, 262)
for number in numbers if x64 else others: attempt(call, number, page, page, page, 0, 0)
# A process of root may name any process as the sender of a message only if it is one of the sandbox.
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
attempt(pair[0].sendmsg, [b"x"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iii", os.getpid(), 70000, 0))])`,
      );
      expect(stdout).not.toContain("DONE");
      expect(stdout.match(/refused/g)?.length).toBe(36);
      return "every one refused";
    },
  },
  {
    name: "read the agent's memory with the agent's uid",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `${findAgents}
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
keepCapabilities = 8
for user in (0, 65535):
    child = os.fork()
    if child == 0:
        libc.prctl(keepCapabilities, 1, 0, 0, 0)
        os.setresgid(user, user, user); os.setresuid(user, user, user)
        for pid in [1, *agents()]:
            for name in ("mem", "environ", "maps", "fd/3", "cwd", "root", "exe", "auxv", "syscall"):
                path = f"/proc/{pid}/{name}"
                try: (os.readlink if name in ("cwd", "root", "exe", "fd/3") else lambda p: open(p, "rb").read(1))(path)
                except OSError: continue
                print("READ", path)
        os._exit(0)
    os.waitpid(child, 0)
print("tried", len(list(agents())))`,
      );
      expect(stdout).toBe("tried 1\n");
      return "not even as the agent's user";
    },
  },
  {
    name: "get something from a program with the set-uid bit",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        `cp "$(type -P id)" /usr/bin/who-am-i && chown root /usr/bin/who-am-i && chmod 6755 /usr/bin/who-am-i
cp "$(type -P grep)" /usr/bin/look && chown root /usr/bin/look && chmod 6755 /usr/bin/look
setpriv --reuid 33 --regid 33 --clear-groups sh -c 'who-am-i -u; look -hE "Cap(Prm|Eff)|NoNewPrivs" /proc/self/status; touch /etc/mine || echo refused' 2>/dev/null`,
      );
      expect(stdout).toBe(
        `33\nCapPrm:\t${"0".repeat(16)}\nCapEff:\t${"0".repeat(16)}\nNoNewPrivs:\t1\nrefused\n`,
      );
      return "it runs as whoever started it";
    },
  },
  {
    name: "be a user of the host",
    async attempt({ sandbox }) {
      await bash(
        sandbox,
        "for uid in 0 1 33 1000 65534 65535; do setpriv --reuid $uid --regid $uid --clear-groups sleep 4321.5 >/dev/null 2>&1 & done",
      );
      const mine = () => hostProcesses().filter(({ commandLine }) => commandLine === "sleep 4321.5");
      await expect.poll(() => mine().length).toBe(6);
      for (const { pid } of mine())
        expect(statSync(`/proc/${pid}`).uid).toBeGreaterThanOrEqual(1_879_113_728);
      await sandbox.delete();
      expect(mine()).toEqual([]);
      return "each of its users is one of its range";
    },
  },
];
