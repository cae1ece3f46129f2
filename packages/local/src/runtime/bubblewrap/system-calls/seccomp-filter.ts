import { allowedCalls, forbiddenCalls, ownerlessMemoryCalls } from "./allowed-calls.js";
import { BpfProgram } from "./bpf-program.js";
import { arm64Numbers, type CallNumbers, x64Numbers } from "./call-numbers.js";

/**
 * What code in a sandbox may ask of the kernel, as a classic BPF program for seccomp.
 *
 * A list of what is allowed. What is not on it does not exist, which is also what an older kernel would say, so that
 * programs fall back and calls of later kernels are closed before anybody here has heard of them. What the list leaves out
 * reaches into other processes, into kernel surfaces with a record of escapes, or into new namespaces. The program is
 * assembled here, so that no compiler and no library is needed.
 *
 * Without `countsAllMemory` (a control group), memory that belongs to no process is refused too: nothing would hold it.
 */
export function seccompProgram(
  arch: NodeJS.Architecture,
  { countsAllMemory = true }: { countsAllMemory?: boolean } = {},
): Buffer | undefined {
  const target = targets[arch];
  if (!target) return undefined;
  const rules: readonly (readonly [name: string, rule: Rule])[] = [
    ...[...allowedCalls, ...(countsAllMemory ? ownerlessMemoryCalls : [])].map(
      (name) => [name, allow] as const,
    ),
    ...forbiddenCalls.map((name) => [name, refuse(errno.EPERM)] as const),
    ...Object.entries(checkedCalls),
  ];
  return new BpfProgram()
    .load(offset.arch)
    .unlessEqual(target.audit, killProcess)
    .load(offset.nr)
    .append(search(verdictRanges(rules, target.numbers)))
    .assemble();
}

/** How a system call is decided: a fixed verdict, or a piece of BPF program that checks the arguments. */
type Rule = number | ((program: BpfProgram) => void);

const errno = {
  EPERM: 1,
  ENOSYS: 38,
  ENOPROTOOPT: 92,
  EPROTONOSUPPORT: 93,
  ESOCKTNOSUPPORT: 94,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const;
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (error: number): number => 0x00050000 | error;

/** Byte offsets in `struct seccomp_data`; arguments are read by their low 32 bits, but for pointers. */
const offset = { nr: 0, arch: 4, arg0: 16, arg1: 24, arg2: 32, arg2High: 36 } as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaceFlags = 0x7e020000;
/** TIOCSTI and TIOCLINUX push input into a terminal as if it had been typed; TIOCSETD loads modules of the kernel. */
const terminalTampering = [0x5412, 0x541c, 0x5423];
/** A process may set its own limits only: the agent and the init have the same uid. Those of others may be read. */
const ownProcess = 0;
/** F_SETLEASE: a lease on a file that machines share holds up everybody who opens it. */
const setLease = 1024;
/** PER_LINUX, PER_LINUX32, UNAME26, both, and the question which it is. Others switch off randomised addresses. */
const harmlessPersonalities = [0, 0x8, 0x20000, 0x20008, 0xffffffff];
const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
/** NETLINK_ROUTE, which lists the network interfaces; the other netlink families reach subsystems that no program in a sandbox needs. */
const routing = 0;
/** All types but SOCK_STREAM, SOCK_DGRAM and SOCK_RAW (for which a capability is missing): SCTP, DCCP and others. */
const otherSocketTypes = 0xc;
/** The default, ICMP, TCP, UDP, ICMPv6. Others, such as MPTCP and SCTP, load modules of the kernel. */
const protocols = [0, 1, 6, 17, 58];
const tcp = { level: 6, upperLayer: 31 } as const;

const checkedCalls: Readonly<Record<string, Rule>> = {
  clone: (program) =>
    program.load(offset.arg0).ifAnyBit(newNamespaceFlags, refuse(errno.EPERM)).return(allow),
  fcntl: (program) => program.load(offset.arg1).ifEqual(setLease, refuse(errno.EPERM)).return(allow),
  ioctl: (program) => {
    program.load(offset.arg1);
    for (const request of terminalTampering) program.ifEqual(request, refuse(errno.EPERM));
    program.return(allow);
  },
  personality: (program) =>
    program.load(offset.arg0).unlessOneOf(harmlessPersonalities, refuse(errno.EPERM)).return(allow),
  prlimit64: (program) => {
    program.load(offset.arg0).ifEqual(ownProcess, allow);
    for (const half of [offset.arg2, offset.arg2High]) program.load(half).unlessEqual(0, refuse(errno.EPERM));
    program.return(allow);
  },
  // A layer on top of TCP is work of the kernel's that programs can do themselves: TLS libraries do, when refused.
  setsockopt: (program) =>
    program
      .load(offset.arg1)
      .when(tcp.level, (option) =>
        option.load(offset.arg2).ifEqual(tcp.upperLayer, refuse(errno.ENOPROTOOPT)).return(allow),
      )
      .return(allow),
  socket: (program) => {
    program.load(offset.arg0).ifEqual(family.unix, allow);
    program.when(family.netlink, (netlink) =>
      netlink.load(offset.arg2).unlessEqual(routing, refuse(errno.EAFNOSUPPORT)).return(allow),
    );
    program.unlessOneOf([family.inet, family.inet6], refuse(errno.EAFNOSUPPORT));
    program.load(offset.arg1).ifAnyBit(otherSocketTypes, refuse(errno.ESOCKTNOSUPPORT));
    program.load(offset.arg2).unlessOneOf(protocols, refuse(errno.EPROTONOSUPPORT)).return(allow);
  },
  // Only some families have pairs; asking the others for one loads them.
  socketpair: (program) =>
    program.load(offset.arg0).unlessEqual(family.unix, refuse(errno.EOPNOTSUPP)).return(allow),
};

const targets: Partial<Record<NodeJS.Architecture, { audit: number; numbers: CallNumbers }>> = {
  x64: { audit: 0xc000003e, numbers: x64Numbers },
  arm64: { audit: 0xc00000b7, numbers: arm64Numbers },
};

/** From this number on, up to the next range. */
interface VerdictRange {
  readonly from: number;
  readonly rule: Rule;
}

/** The rules in the order of their calls' numbers. The last range also takes the numbers of the x32 ABI of x86-64. */
function verdictRanges(
  rules: readonly (readonly [name: string, rule: Rule])[],
  numbers: CallNumbers,
): VerdictRange[] {
  const unknown = refuse(errno.ENOSYS);
  const byNumber = new Map(
    rules.flatMap(([name, rule]) => {
      const number = numbers.get(name);
      return number === undefined ? [] : [[number, rule] as const];
    }),
  );
  const ranges: VerdictRange[] = [];
  const end = Math.max(...byNumber.keys()) + 1;
  for (let from = 0; from <= end; from += 1) {
    const rule = byNumber.get(from) ?? unknown;
    if (rule !== ranges.at(-1)?.rule) ranges.push({ from, rule });
  }
  return ranges;
}

/** Finds the range of the loaded number by halves, so that each call costs some ten instructions, whatever its number. */
function search(ranges: readonly VerdictRange[]): BpfProgram {
  const [first, ...others] = ranges;
  if (first === undefined) throw new Error("A search needs a range to find.");
  if (others.length === 0) {
    const { rule } = first;
    const found = new BpfProgram();
    if (typeof rule === "number") return found.return(rule);
    rule(found);
    return found;
  }
  const middle = Math.ceil(ranges.length / 2);
  const rest = ranges.slice(middle);
  return new BpfProgram().split(rest[0]?.from ?? 0, search(ranges.slice(0, middle)), search(rest));
}
