/**
 * The system calls that code in a sandbox may not make, as a classic BPF program for seccomp.
 *
 * A deny list: sandboxed programs are arbitrary, and no capability is held inside anyway. What is refused is
 * what reaches into other processes (the agent has the same uid), into kernel surfaces with a record of
 * escapes, or into new namespaces. The program is assembled here, so that no compiler and no library is needed.
 *
 * Without `countsAllMemory` (a control group), memory that belongs to no process is refused too: nothing would hold it.
 */
export function seccompProgram(
  arch: NodeJS.Architecture,
  { countsAllMemory = true }: { countsAllMemory?: boolean } = {},
): Buffer | undefined {
  const target = targets[arch];
  if (!target) return undefined;
  const { audit, calls } = target;
  const program = new Assembler();
  program.load(offset.arch).unlessEqual(audit, killProcess).load(offset.nr);
  // The x32 ABI of x86-64 reaches the same calls under other numbers.
  if (arch === "x64") program.ifAtLeast(0x40000000, refuse(errno.ENOSYS));
  for (const [name, error] of countsAllMemory ? denied : [...denied, ...ownerlessMemory]) {
    const nr = calls[name];
    if (nr !== undefined) program.ifEqual(nr, refuse(error));
  }
  program.when(calls.clone, (then) =>
    then.load(offset.arg0).ifAnyBit(newNamespaceFlags, refuse(errno.EPERM)),
  );
  program.when(calls.ioctl, (then) => {
    then.load(offset.arg1);
    for (const request of terminalInjection) then.ifEqual(request, refuse(errno.EPERM));
  });
  program.when(calls.prlimit64, (then) => {
    then.load(offset.arg0).ifEqual(ownProcess, allow);
    for (const half of [offset.arg2, offset.arg2High]) then.load(half).unlessEqual(0, refuse(errno.EPERM));
  });
  program.when(calls.fcntl, (then) => then.load(offset.arg1).ifEqual(setLease, refuse(errno.EPERM)));
  program.when(calls.socket, (then) => {
    then.load(offset.arg0).unlessOneOf(socketFamilies, refuse(errno.EAFNOSUPPORT));
    then.when(netlink, (family) => family.load(offset.arg2).unlessEqual(routing, refuse(errno.EAFNOSUPPORT)));
  });
  return program.return(allow).assemble();
}

const errno = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (error: number): number => 0x00050000 | error;

/** Byte offsets in `struct seccomp_data`; arguments are read by their low 32 bits, but for pointers. */
const offset = { nr: 0, arch: 4, arg0: 16, arg1: 24, arg2: 32, arg2High: 36 } as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaceFlags = 0x7e020000;
/** TIOCSTI and TIOCLINUX push input into a terminal as if it had been typed. */
const terminalInjection = [0x5412, 0x541c];
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (needed to list the network interfaces). */
const socketFamilies = [1, 2, 10, 16];
const netlink = 16;
/** NETLINK_ROUTE; the other netlink families reach subsystems that no program in a sandbox needs. */
const routing = 0;
/** A process may set its own limits only: the agent and the init have the same uid. Those of others may be read. */
const ownProcess = 0;
/** F_SETLEASE: a lease on a file that machines share holds up everybody who opens it. */
const setLease = 1024;

type Call = keyof typeof x64Calls;

/** ENOSYS where programs try a newer call first and fall back to an older one; EPERM elsewhere. */
const denied: readonly (readonly [Call, number])[] = [
  ...(["clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"] as const).map(
    (name) => [name, errno.ENOSYS] as const,
  ),
  ...(["open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"] as const).map(
    (name) => [name, errno.ENOSYS] as const,
  ),
  ...(
    [
      "ptrace",
      "process_vm_readv",
      "process_vm_writev",
      "process_madvise",
      "kcmp",
      "pidfd_getfd",
      "unshare",
      "setns",
      "mount",
      "umount2",
      "pivot_root",
      "chroot",
      "quotactl",
      "quotactl_fd",
      "keyctl",
      "add_key",
      "request_key",
      "bpf",
      "perf_event_open",
      "userfaultfd",
      "kexec_load",
      "kexec_file_load",
      "init_module",
      "finit_module",
      "delete_module",
      "reboot",
      "swapon",
      "swapoff",
      "sethostname",
      "setdomainname",
      "iopl",
      "ioperm",
      "modify_ldt",
      "settimeofday",
      "clock_settime",
      "clock_adjtime",
      "acct",
      "syslog",
      "vhangup",
      "lookup_dcookie",
      "open_by_handle_at",
      "name_to_handle_at",
      "fanotify_init",
      "move_pages",
      "migrate_pages",
      "uselib",
      "ustat",
      "sysfs",
      "nfsservctl",
      "_sysctl",
    ] as const
  ).map((name) => [name, errno.EPERM] as const),
];

const ownerlessMemory = (
  ["memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open"] as const
).map((name) => [name, errno.ENOSYS] as const);

// biome-ignore format: a table of numbers reads best as a table
const x64Calls = {
  ioctl: 16, shmget: 29, socket: 41, clone: 56, semget: 64, msgget: 68, fcntl: 72, ptrace: 101, syslog: 103, uselib: 134, ustat: 136, sysfs: 139, vhangup: 153,
  modify_ldt: 154, pivot_root: 155, _sysctl: 156, chroot: 161, acct: 163, settimeofday: 164, mount: 165, umount2: 166,
  swapon: 167, swapoff: 168, reboot: 169, sethostname: 170, setdomainname: 171, iopl: 172, ioperm: 173,
  init_module: 175, delete_module: 176, quotactl: 179, nfsservctl: 180, lookup_dcookie: 212, clock_settime: 227,
  mq_open: 240, kexec_load: 246, add_key: 248, request_key: 249, keyctl: 250, migrate_pages: 256, unshare: 272, move_pages: 279,
  perf_event_open: 298, fanotify_init: 300, name_to_handle_at: 303, prlimit64: 302, open_by_handle_at: 304, clock_adjtime: 305,
  setns: 308, process_vm_readv: 310, process_vm_writev: 311, kcmp: 312, finit_module: 313, kexec_file_load: 320,
  memfd_create: 319, bpf: 321, userfaultfd: 323, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428,
  move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, pidfd_getfd: 438,
  process_madvise: 440, mount_setattr: 442, quotactl_fd: 443, memfd_secret: 447,
} as const;

// biome-ignore format: a table of numbers reads best as a table
const arm64Calls: Partial<Record<Call, number>> & Record<"clone" | "fcntl" | "ioctl" | "prlimit64" | "socket", number> = {
  lookup_dcookie: 18, fcntl: 25, ioctl: 29, umount2: 39, mount: 40, pivot_root: 41, chroot: 51, vhangup: 58, quotactl: 60,
  acct: 89, unshare: 97, kexec_load: 104, init_module: 105, delete_module: 106, clock_settime: 112, syslog: 116,
  ptrace: 117, reboot: 142, sethostname: 161, setdomainname: 162, settimeofday: 170, mq_open: 180, msgget: 186, semget: 190, shmget: 194, socket: 198, add_key: 217,
  request_key: 218, keyctl: 219, clone: 220, swapon: 224, swapoff: 225, migrate_pages: 238, move_pages: 239,
  perf_event_open: 241, prlimit64: 261, fanotify_init: 262, name_to_handle_at: 264, open_by_handle_at: 265, clock_adjtime: 266,
  setns: 268, process_vm_readv: 270, process_vm_writev: 271, kcmp: 272, finit_module: 273, memfd_create: 279, bpf: 280, userfaultfd: 282,
  kexec_file_load: 294, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428,
  move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, pidfd_getfd: 438,
  process_madvise: 440, mount_setattr: 442, quotactl_fd: 443, memfd_secret: 447,
};

const targets: Partial<Record<NodeJS.Architecture, { audit: number; calls: typeof arm64Calls }>> = {
  x64: { audit: 0xc000003e, calls: x64Calls },
  arm64: { audit: 0xc00000b7, calls: arm64Calls },
};

/** Emits `struct sock_filter` instructions. Every test is followed by its verdict, so that jumps stay short. */
class Assembler {
  readonly #instructions: { code: number; jt: number; jf: number; k: number }[] = [];

  load(at: number): this {
    return this.#emit(0x20, at);
  }

  return(verdict: number): this {
    return this.#emit(0x06, verdict);
  }

  ifEqual(value: number, verdict: number): this {
    return this.#emit(0x15, value, 0, 1).return(verdict);
  }

  unlessEqual(value: number, verdict: number): this {
    return this.#emit(0x15, value, 1, 0).return(verdict);
  }

  ifAtLeast(value: number, verdict: number): this {
    return this.#emit(0x35, value, 0, 1).return(verdict);
  }

  ifAnyBit(mask: number, verdict: number): this {
    return this.#emit(0x45, mask, 0, 1).return(verdict);
  }

  unlessOneOf(values: readonly number[], verdict: number): this {
    for (const [index, value] of values.entries()) this.#emit(0x15, value, values.length - index, 0);
    return this.return(verdict);
  }

  /** Runs `then` for one value of what is loaded only. It ends by allowing the call, since it may have loaded something else. */
  when(value: number, then: (program: Assembler) => void): this {
    const inner = new Assembler();
    then(inner);
    inner.return(allow);
    this.#emit(0x15, value, 0, inner.#instructions.length);
    this.#instructions.push(...inner.#instructions);
    return this;
  }

  assemble(): Buffer {
    const buffer = Buffer.alloc(this.#instructions.length * 8);
    for (const [index, { code, jt, jf, k }] of this.#instructions.entries()) {
      buffer.writeUInt16LE(code, index * 8);
      buffer.writeUInt8(jt, index * 8 + 2);
      buffer.writeUInt8(jf, index * 8 + 3);
      buffer.writeUInt32LE(k >>> 0, index * 8 + 4);
    }
    return buffer;
  }

  #emit(code: number, k: number, jt = 0, jf = 0): this {
    this.#instructions.push({ code, jt, jf, k });
    return this;
  }
}
