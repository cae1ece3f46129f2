import { allowedCalls, forbiddenCalls, ownerlessMemoryCalls } from "./allowed-calls.js";
import {
  coreSize,
  errno,
  harmlessPersonalities,
  hugePages,
  modeArguments,
  netlinkRoute,
  newNamespaces,
  otherSocketTypes,
  refusedSocketOptions,
  refusedValues,
  setUidBits,
  socketFamily,
  socketProtocols,
} from "./argument-rules.js";
import { BpfProgram } from "./bpf-program.js";
import { arm64Numbers, type CallNumbers, x64Numbers } from "./call-numbers.js";

/**
 * The seccomp filter for code in a sandbox, as a classic BPF program. Undefined for an architecture without a filter.
 *
 * The filter is a list of allowed system calls. Every other call fails as if the kernel did not have it, so programs
 * fall back to older calls, and calls that later kernels add are closed from the start. Calls that are not allowed can
 * reach other processes, reach parts of the kernel with a history of sandbox escapes, or create namespaces. The program
 * is assembled here, so that neither a compiler nor a library is needed.
 *
 * `countsAllMemory`: whether a control group counts the machine's memory. If not, calls that allocate memory outside
 * processes are refused too, because no limit would apply to that memory.
 *
 * `refusesSetUid`: whether code may make no set-uid and set-gid files, which users of the host could run.
 */
export function seccompProgram(
  arch: NodeJS.Architecture,
  {
    countsAllMemory = true,
    refusesSetUid = false,
  }: { countsAllMemory?: boolean; refusesSetUid?: boolean } = {},
): Buffer | undefined {
  const target = targets[arch];
  if (!target) return undefined;
  const rules: readonly (readonly [name: string, rule: Rule])[] = [
    ...[...allowedCalls, ...(countsAllMemory ? ownerlessMemoryCalls : [])].map(
      (name) => [name, allow] as const,
    ),
    ...forbiddenCalls.map((name) => [name, refuse(errno.EPERM)] as const),
    ...Object.entries(checkedCalls).filter(([name]) => countsAllMemory || !ownerlessObjects.has(name)),
    ...(refusesSetUid ? Object.entries(modeCalls) : []),
  ];
  return new BpfProgram()
    .load(offset.arch)
    .unlessEqual(target.audit, killProcess)
    .load(offset.nr)
    .append(search(verdictRanges(rules, target.numbers)))
    .assemble();
}

/** The checked calls whose memory belongs to no process. */
const ownerlessObjects: ReadonlySet<string> = new Set(["memfd_create", "shmget"]);

/** Whether there is a filter for an architecture. */
export const hasSeccompFilter = (arch: NodeJS.Architecture): boolean => arch in targets;

/** How a system call is decided: a fixed verdict, or a piece of BPF program that checks the arguments. */
type Rule = number | ((program: BpfProgram) => void);

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (error: number): number => 0x00050000 | error;

/**
 * Byte offsets in `struct seccomp_data`. Of each argument only the low 32 bits are read, except where `arg2High` is
 * used, for a pointer.
 */
const offset = { nr: 0, arch: 4, arg0: 16, arg1: 24, arg2: 32, arg2High: 36, arg3: 40 } as const;

/**
 * 0 as a pid means the calling process. A process may set limits only for itself, because the agent and the init have
 * the same uid. It may read the limits of others.
 */
const ownProcess = 0;

const doNothing = refuse(0);

const argument = (index: 0 | 1 | 2 | 3): number => offset[`arg${index}`];

const checkedCalls: Readonly<Record<string, Rule>> = {
  clone: (program) => program.load(offset.arg0).ifAnyBit(newNamespaces, refuse(errno.EPERM)).return(allow),
  personality: (program) =>
    program.load(offset.arg0).unlessOneOf(harmlessPersonalities, refuse(errno.EPERM)).return(allow),
  prlimit64: (program) => {
    const halves = [offset.arg2, offset.arg2High];
    program.load(offset.arg0).when(ownProcess, (own) => {
      own.load(offset.arg1).unlessEqual(coreSize, allow);
      for (const half of halves) own.load(half).unlessEqual(0, doNothing);
      own.return(allow);
    });
    for (const half of halves) program.load(half).unlessEqual(0, refuse(errno.EPERM));
    program.return(allow);
  },
  setrlimit: (program) => program.load(offset.arg0).ifEqual(coreSize, doNothing).return(allow),
  setsockopt: (program) => {
    program.load(offset.arg1);
    for (const [level, options] of refusedSocketOptions)
      program.when(level, (option) => {
        option.load(offset.arg2);
        for (const value of options) option.ifEqual(value, refuse(errno.ENOPROTOOPT));
        option.return(allow);
      });
    program.return(allow);
  },
  socket: (program) => {
    program.load(offset.arg0).ifEqual(socketFamily.unix, allow);
    program.when(socketFamily.netlink, (netlink) =>
      netlink.load(offset.arg2).unlessEqual(netlinkRoute, refuse(errno.EAFNOSUPPORT)).return(allow),
    );
    program.unlessOneOf(socketFamily.internet, refuse(errno.EAFNOSUPPORT));
    program.load(offset.arg1).ifAnyBit(otherSocketTypes, refuse(errno.ESOCKTNOSUPPORT));
    program.load(offset.arg2).unlessOneOf(socketProtocols, refuse(errno.EPROTONOSUPPORT)).return(allow);
  },
  // Only Unix sockets have pairs. Asking for a pair of another family could load that family's kernel module.
  socketpair: (program) =>
    program.load(offset.arg0).unlessEqual(socketFamily.unix, refuse(errno.EOPNOTSUPP)).return(allow),
  ...mapped(refusedValues, ({ argument: index, errors }) => (program) => {
    program.load(argument(index));
    for (const [value, error] of Object.entries(errors)) program.ifEqual(Number(value), refuse(error));
    program.return(allow);
  }),
  ...mapped(hugePages, ({ argument: index, bits, error }) => (program) => {
    program.load(argument(index)).ifAnyBit(bits, refuse(error)).return(allow);
  }),
};

function mapped<Value>(
  values: Readonly<Record<string, Value>>,
  rule: (value: Value) => Rule,
): Record<string, Rule> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, rule(value)]));
}

/** A rule for a call whose mode is in the argument at `at`. */
const withoutSetUid =
  (at: number): Rule =>
  (program) =>
    program.load(at).ifAnyBit(setUidBits, refuse(errno.EPERM)).return(allow);
const modeCalls: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    Object.entries(modeArguments).map(([name, index]) => [name, withoutSetUid(argument(index))]),
  ),
  openat2: refuse(errno.ENOSYS),
};

const targets: Partial<Record<NodeJS.Architecture, { audit: number; numbers: CallNumbers }>> = {
  x64: { audit: 0xc000003e, numbers: x64Numbers },
  arm64: { audit: 0xc00000b7, numbers: arm64Numbers },
};

/** The first system call number to which `rule` applies. It applies up to the start of the next range. */
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

/**
 * A BPF program that finds the rule for the loaded number by binary search, so that every call costs about ten
 * instructions.
 */
function search(ranges: readonly VerdictRange[]): BpfProgram {
  const [first, ...others] = ranges;
  if (first === undefined) throw new Error("The list of verdict ranges is empty.");
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
