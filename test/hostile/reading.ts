import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { isSandboxError } from "cloud-sandbox";
import { expect } from "vitest";
import { type Attack, bash, type CodeAttack, python } from "./attack.js";

/** Attempts to read data that does not belong to the sandbox. */
export const reading: readonly CodeAttack[] = [
  {
    name: "read the host's files",
    async attempt({ sandbox, hostFiles, secret, codeIsRoot }) {
      // Root inside has the records of the package manager, and a file of passwords without one.
      const found = codeIsRoot ? "-path /var/lib/dpkg -prune -o -type f -print" : "-type f";
      const { stdout, stderr } = await bash(
        sandbox,
        `cat /etc/shadow /etc/ssh/* /root/.* ${hostFiles.join(" ")}; ls -a /
for place in /usr/local/etc /usr/etc /home/sandbox /mnt /srv /root; do ls -A $place | sed 's/^/local: /'; done
find /var ${found} | sed 's/^/local: /'; find / -path '*/etc/npmrc' -o -name 'pip.conf' 2>/dev/null | sed 's/^/local: /'`,
      );
      expect(stdout + stderr).not.toContain(secret);
      expect(stdout).not.toMatch(/^root:(?!x|\*:19000:0:99999:7:::$)/m);
      expect(stdout).not.toContain("local: ");
      for (const name of ["root", "boot", "lost+found", "media"])
        expect(stdout.split("\n")).not.toContain(name);
      return "none of them exists inside";
    },
  },
  {
    name: "read another sandbox's files",
    async attempt({ sandbox, neighbour, secret }) {
      await neighbour.files.write("/workspace/letter-to-nobody.txt", secret);
      const { stdout } = await bash(
        sandbox,
        "find / -name 'letter-to*' 2>/dev/null; cat /proc/*/root/workspace/letter-to-nobody.txt",
      );
      expect(stdout).toBe("");
      return "not to be found";
    },
  },
  {
    name: "see and signal the host's processes",
    async attempt({ sandbox, server }) {
      const { stdout: listed } = await bash(
        sandbox,
        "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done",
      );
      expect(listed).not.toContain("main.js serve");
      const { stdout: count } = await bash(sandbox, "echo /proc/[0-9]* | wc -w");
      expect(Number(count)).toBeLessThan(10);
      const { stdout } = await bash(
        sandbox,
        `for s in 0 9; do kill -$s ${server.pid} && echo REACHED; done; true`,
      );
      expect(stdout).toBe("");
      return "only its own processes exist";
    },
  },
  {
    name: "find the control plane's key, tokens and environment",
    async attempt({ sandbox, secret }) {
      const reversed = [...secret].reverse().join("");
      const { stdout } = await python(
        sandbox,
        `
import os
needle = "${reversed}"[::-1].encode()
places = [os.environb.get(k, b"") for k in os.environb]
found = ["environment"] if any(needle in value for value in places) else []
seen = 0
for top in ["/proc", "/etc", "/opt", "/run", "/tmp", "/dev/shm", "/home", "/workspace", "/var", "/root"]:
    for directory, names, files in os.walk(top):
        names[:] = [name for name in names if name not in ("sys", "task", "map_files", "fd")]
        for name in files:
            path = os.path.join(directory, name)
            if name in ("kmsg", "kcore", "kpagecount", "kpageflags", "kpagecgroup", "clear_refs") or not os.path.isfile(path): continue
            try:
                file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    seen += 1
                    if needle in os.read(file, 1 << 20): found.append(path)
                finally:
                    os.close(file)
            except OSError: pass
print(seen > 100, found)
`,
      );
      expect(stdout).toBe("True []\n");
      return "in no file, process or variable inside";
    },
  },
  {
    name: "reach the control plane and the host over the network",
    async attempt({ sandbox, server }) {
      const abstractName = `cloud-sandbox-test-${process.pid}`;
      const listener = createServer((socket) => socket.end("REACHED"));
      await new Promise<void>((resolve) => listener.listen(`\0${abstractName}`, resolve));
      try {
        const { stdout } = await python(
          sandbox,
          `
import socket
def attempt(family, address):
    try:
        with socket.socket(family) as s:
            s.settimeout(2)
            s.connect(address)
            return "REACHED"
    except OSError as error:
        return type(error).__name__
print(attempt(socket.AF_INET, ("127.0.0.1", ${new URL(server.url).port})))
print(attempt(socket.AF_INET6, ("::1", ${new URL(server.url).port})))
print(attempt(socket.AF_UNIX, "\\0${abstractName}"))
print([name for _, name in socket.if_nameindex()])
`,
        );
        expect(stdout).not.toContain("REACHED");
        expect(stdout.trim().split("\n").at(-1)).toBe("['lo']");
      } finally {
        listener.close();
      }
      return "no route, no abstract socket; its loopback is its own";
    },
  },
  {
    name: "learn about the host from the kernel's files",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `
import os
names = """acpi asound bus cmdline config.gz diskstats fs interrupts iomem ioports kallsyms kcore keys latency_stats locks
  mdstat modules partitions pressure sched_debug schedstat scsi slabinfo timer_list timer_stats vmallocinfo""".split()
found = []
for name in names:
    path = "/proc/" + name
    try:
        told = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(64)
    except (FileNotFoundError, PermissionError):
        continue
    if told: found.append(name)
    for change in (lambda: open(path, "ab").write(b"x"), lambda: os.chmod(path, 0o777), lambda: open(path + "/x", "w"),
                   lambda: os.unlink(path), lambda: os.rename(path, "/proc/x"), lambda: os.utime(path)):
        try:
            change()
            found.append("changed " + name)
        except OSError: pass
print(found)`,
      );
      expect(stdout).toBe("[]\n");
      return "they are empty, and stay so";
    },
  },
  {
    name: "reach the host, its network and clouds' own services through the proxy",
    async attempt({ sandbox, server }) {
      const { stdout, stderr } = await python(sandbox, reachingHost(server.url));
      expect({ stdout, stderr }).toEqual({ stdout: refusedByProxy, stderr: "" });
      return "refused, in every spelling, as HTTP, CONNECT and SOCKS";
    },
  },
];

/** Attempts to read through the operations on a sandbox's files. */
export const readingThroughFiles: readonly Attack[] = [
  {
    name: "lead the file API out by symlinks",
    async attempt({ sandbox, hostFiles: [hostFile = ""] }) {
      const targets = [
        "/etc/shadow",
        "/etc/passwd",
        "/proc/1/environ",
        "/proc/2/environ",
        "/dev/zero",
        hostFile,
      ];
      await bash(
        sandbox,
        targets.map((target, index) => `ln -s ${target} /workspace/link${index}`).join("\n"),
      );
      await bash(
        sandbox,
        "ln -s / /workspace/root; ln -s /opt/cloud-sandbox /workspace/agent; mkfifo /workspace/fifo",
      );
      const escapes = [
        ...targets.map((_, index) => `/workspace/link${index}`),
        "/workspace/root/etc/passwd",
        "/workspace/agent/agent/main.cjs",
        "/workspace/../etc/passwd",
        "/workspace/fifo",
      ];
      for (const path of escapes) {
        for (const [action, call] of [
          ["read", () => sandbox.files.readText(path)],
          ["download", () => sandbox.files.readBytes(path)],
          ["write", () => sandbox.files.write(path, "overwritten")],
        ] as const) {
          const outcome = await call().then(
            () => "done",
            (error: unknown) => (isSandboxError(error) ? "refused" : error),
          );
          // A write through a link may replace the link in the sandbox; only the file that the link points to must stay
          // unchanged.
          if (action !== "write") expect(`${action} ${path}: ${outcome}`).toBe(`${action} ${path}: refused`);
        }
      }
      const { stdout } = await bash(
        sandbox,
        "grep -c overwritten /etc/passwd /proc/sys/kernel/hostname; true",
      );
      expect(stdout).not.toContain(":1");
      return "refused";
    },
  },
];

/** The output of {@link reachingHost} if the proxy refuses everything. */
export const refusedByProxy = "[b'\\x05\\x02', b'403']\n";

/** A Python program that asks the proxy for the server at `url` in every spelling, and for services of clouds. */
export function reachingHost(url: string): string {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const hosts = [
    ...["127.0.0.1", "localhost", "a.localhost", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0.0.0.0"],
    ...["[::1]", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]"],
    ...["169.254.169.254", "168.63.129.16", "100.100.100.200", "[fd00:ec2::254]", "[fd20:ce::254]"],
    ...own.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  ];
  return `
import socket
port = ${new URL(url).port}
def ask(at, *said):
    with socket.create_connection(("127.0.0.1", at), 10) as s:
        for words in said:
            s.sendall(words)
            answer = s.recv(4096)
        return answer
answers = set()
for host in ${JSON.stringify(hosts)}:
    place = f"{host}:{port}".encode()
    answers.add(ask(3128, b"GET http://" + place + b"/health HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")[9:12])
    answers.add(ask(3128, b"GET http://" + place + b"/health HTTP/1.1\\r\\nHost: 1.1.1.1\\r\\nConnection: close\\r\\n\\r\\n")[9:12])
    answers.add(ask(3128, b"CONNECT " + place + b" HTTP/1.1\\r\\nHost: 1.1.1.1\\r\\n\\r\\n")[9:12])
    name = host.strip("[]").encode()
    request = b"\\5\\1\\0\\3" + bytes([len(name)]) + name + port.to_bytes(2, "big")
    answers.add(ask(1080, b"\\5\\1\\0", request)[:2])
print(sorted(answers))
`;
}
