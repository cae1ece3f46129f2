/** The errors with which calls are refused. */
export const errno = {
  EPERM: 1,
  ENOMEM: 12,
  EINVAL: 22,
  ENOSYS: 38,
  ENOPROTOOPT: 92,
  EPROTONOSUPPORT: 93,
  ESOCKTNOSUPPORT: 94,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
export const newNamespaces = 0x7e020000;

/** The values of an argument with which a call is refused, each with its error. With all others it is allowed. */
export interface RefusedValues {
  readonly argument: 0 | 1;
  readonly errors: Readonly<Record<number, number>>;
}

const { EINVAL, EPERM } = errno;

export const refusedValues: Readonly<Record<string, RefusedValues>> = {
  // F_SETLEASE: a lease on a file that several machines share would block every process that opens the file. F_OFD_GETLK,
  // F_OFD_SETLK and F_OFD_SETLKW: the kernel counts the memory of locks to nobody, so `kernel-watch.ts` does, which could not find
  // the process that holds these.
  fcntl: { argument: 1, errors: { 1024: EPERM, 36: EINVAL, 37: EINVAL, 38: EINVAL } },
  // TIOCSTI and TIOCLINUX push input into a terminal as if it had been typed; TIOCSETD loads modules of the kernel.
  ioctl: { argument: 1, errors: { 21522: EPERM, 21532: EPERM, 21539: EPERM } },
  // PR_SET_SECCOMP, as on a kernel without it: the memory for filters is one for the whole host, so code that installs many
  // keeps everybody else's sandboxes from starting. PR_SCHED_CORE keeps other programs from half of a processor.
  prctl: { argument: 0, errors: { 22: EINVAL, 62: EINVAL } },
  // SECCOMP_SET_MODE_FILTER, for the same reason.
  seccomp: { argument: 0, errors: { 1: EINVAL } },
};

/**
 * RLIMIT_CORE, which machines have at 1 byte (see `launcher.pl`) and cannot change: with any other value, a crash may start a
 * program of the host's root, which reads the crashed one's memory. Programs that set it are told that they did.
 */
export const coreSize = 4;

/** Bits of an argument with which a call is refused, all else being allowed. */
export interface RefusedBits {
  readonly argument: 0 | 1 | 2 | 3;
  readonly bits: number;
  readonly error: number;
}

/**
 * MAP_HUGETLB, MFD_HUGETLB and SHM_HUGETLB: pages that the host has set aside for a program of its own, such as a database, and
 * that no control group for memory counts.
 */
export const hugePages: Readonly<Record<string, RefusedBits>> = {
  mmap: { argument: 3, bits: 0x40000, error: errno.ENOMEM },
  memfd_create: { argument: 1, bits: 4, error: errno.EINVAL },
  shmget: { argument: 2, bits: 0o4000, error: errno.ENOMEM },
};

/**
 * PER_LINUX, PER_LINUX32, UNAME26, PER_LINUX32 with UNAME26, and 0xffffffff, which only queries. Other personalities
 * can turn off address space randomization.
 */
export const harmlessPersonalities: readonly number[] = [0, 0x8, 0x20000, 0x20008, 0xffffffff];

export const socketFamily = { unix: 1, internet: [2, 10], netlink: 16 } as const;

/**
 * NETLINK_ROUTE, which lists the network interfaces; the other netlink families reach subsystems that no program in a sandbox
 * needs. The kernel counts its replies to nobody, so `kernel-watch.ts` does.
 */
export const netlinkRoute = 0;

/**
 * A mask for all socket types except SOCK_STREAM, SOCK_DGRAM and SOCK_RAW (which needs a capability that code does not
 * have): SCTP, DCCP and others.
 */
export const otherSocketTypes = 0xc;

/**
 * The allowed socket protocols: default, ICMP, TCP, UDP, ICMPv6. Others, such as MPTCP and SCTP, would load kernel
 * modules.
 */
export const socketProtocols: readonly number[] = [0, 1, 6, 17, 58];

/** Options of sockets that are refused, by their level. Their memory is counted to nobody, or is one for the whole host. */
export const refusedSocketOptions: readonly (readonly [level: number, options: readonly number[]])[] = [
  // SOL_SOCKET: ATTACH_FILTER, ATTACH_BPF, ATTACH_REUSEPORT_CBPF and ATTACH_REUSEPORT_EBPF. See `prctl` above.
  [1, [26, 50, 51, 52]],
  // TCP: MD5SIG, MD5SIG_EXT and AO_ADD_KEY, which keep as many keys as the program has addresses; and ULP, which moves
  // protocols such as TLS from programs into the kernel. TLS libraries work without it.
  [6, [14, 31, 32, 38]],
  // IPv6: 2292PKTOPTIONS, ADD_MEMBERSHIP, FLOWLABEL_MGR, MCAST_JOIN_GROUP, MCAST_JOIN_SOURCE_GROUP, MCAST_MSFILTER, RTHDR. IPv4
  // has 20 groups a socket.
  [41, [6, 20, 32, 42, 46, 48, 57]],
];

/**
 * The calls that give a file a mode, each with the index of that argument. The mode of `openat2` is in memory, where no filter can
 * see it; programs fall back to `openat`.
 */
export const modeArguments = {
  chmod: 1,
  creat: 1,
  fchmod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  mknod: 1,
  mknodat: 2,
  open: 2,
  openat: 3,
} as const;

/** The bits of a mode with which users of the host would run a file as its owner or group. */
export const setUidBits = 0o6000;
