import {
  allowedCalls,
  forbiddenCalls,
  modeArguments,
  ownerlessMemoryCalls,
  setUidBits,
} from "../../bubblewrap/system-calls/allowed-calls.js";
import { arm64Numbers, x64Numbers } from "../../bubblewrap/system-calls/call-numbers.js";

interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ";
}

const equals = (index: number, value: number): Condition => ({ index, value, op: "SCMP_CMP_EQ" });
const masked = (index: number, mask: number, rest: number): Condition => ({
  ...{ index, value: mask >>> 0, valueTwo: rest >>> 0 },
  op: "SCMP_CMP_MASKED_EQ",
});
const hasNone = (index: number, mask: number): Condition => masked(index, mask, 0);

/**
 * Conditions one of which holds for each argument whose lower 32 bits are none of `values`. The kernel reads only those bits
 * of such an argument, while "differs" compares all 64: code could set one of the others.
 */
function differs(index: number, values: readonly number[], bit = 31, mask = 0, rest = 0): Condition[] {
  if (values.length === 0) return [masked(index, mask, rest)];
  if (bit < 0) return [];
  const flag = 1 << bit;
  return [0, flag].flatMap((setting) =>
    differs(
      index,
      values.filter((value) => (value & flag) === setting),
      bit - 1,
      mask | flag,
      rest | setting,
    ),
  );
}

const allow = "SCMP_ACT_ALLOW";
const refuse = "SCMP_ACT_ERRNO";
const errno = { EPERM: 1, ENOSYS: 38 } as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaces = 0x7e020000;
const fSetLease = 1024;
/** TIOCSTI, TIOCLINUX and TIOCSETD. */
const terminalTampering = [0x5412, 0x541c, 0x5423];
const unixFamily = 1;
const internetFamilies = [2, 10];
const netlink = { family: 16, routing: 0 } as const;
/** All socket types but SOCK_STREAM, SOCK_DGRAM and SOCK_RAW. */
const otherTypes = 0xc;
/** Default, ICMP, TCP, UDP, ICMPv6. */
const protocols = [0, 1, 6, 17, 58];
const tcpUpperLayer = { level: 6, option: 31 } as const;
const personalities = [0, 0x8, 0x20000, 0x20008, 0xffffffff];

/**
 * The calls that depend on their arguments: each is allowed when all conditions of one of its lists hold. They are those of
 * bubblewrap's filter; see `seccomp-filter.ts` for the reasons.
 */
const checked: Readonly<Record<string, readonly (readonly Condition[])[]>> = {
  clone: [[hasNone(0, newNamespaces)]],
  fcntl: differs(1, [fSetLease]).map((condition) => [condition]),
  ioctl: differs(1, terminalTampering).map((condition) => [condition]),
  personality: personalities.map((value) => [equals(0, value)]),
  prlimit64: [[equals(0, 0)], [equals(2, 0)]],
  setsockopt: [...differs(1, [tcpUpperLayer.level]), ...differs(2, [tcpUpperLayer.option])].map(
    (condition) => [condition],
  ),
  socket: [
    [equals(0, unixFamily)],
    [equals(0, netlink.family), equals(2, netlink.routing)],
    ...internetFamilies.flatMap((family) =>
      protocols.map((protocol) => [equals(0, family), hasNone(1, otherTypes), equals(2, protocol)]),
    ),
  ],
  socketpair: [[equals(0, unixFamily)]],
};

/** What the calls that give a file a mode may do where no file may be set-uid or set-gid. */
const modeRules = Object.entries(modeArguments).flatMap(([name, index]) => {
  const whenSet = [0o4000, 0o2000].map((bit) => masked(index, bit, bit));
  return [
    { names: [name], action: allow, args: [hasNone(index, setUidBits)] },
    ...whenSet.map((condition) => ({
      ...{ names: [name], action: refuse, errnoRet: errno.EPERM, args: [condition] },
    })),
  ];
});

/**
 * The system calls of bubblewrap's machines as a profile of Docker, which is stricter than Docker's own. A call that is not
 * in it fails as if the kernel did not have it. `refusesSetUid`: whether code may make no set-uid and set-gid files, which users
 * of the host could run.
 */
export function seccompProfile(refusesSetUid: boolean): string {
  const isTaken = (name: string): boolean => refusesSetUid && (name in modeArguments || name === "openat2");
  const always = [...allowedCalls, ...ownerlessMemoryCalls].filter((name) => !isTaken(name));
  const withRules = [...Object.keys(checked), ...(refusesSetUid ? Object.keys(modeArguments) : [])];
  const listed = new Set([...always, ...forbiddenCalls, ...withRules]);
  const others = new Set([...x64Numbers.keys(), ...arm64Numbers.keys()].filter((name) => !listed.has(name)));
  return JSON.stringify({
    defaultAction: refuse,
    defaultErrnoRet: errno.ENOSYS,
    archMap: [
      { architecture: "SCMP_ARCH_X86_64", subArchitectures: [] },
      { architecture: "SCMP_ARCH_AARCH64", subArchitectures: [] },
    ],
    syscalls: [
      { names: always, action: allow, args: [] },
      { names: forbiddenCalls, action: refuse, errnoRet: errno.EPERM, args: [] },
      // Older daemons do not know `defaultErrnoRet`, and programs try another call only when one does not exist.
      { names: [...others], action: refuse, errnoRet: errno.ENOSYS, args: [] },
      ...Object.entries(checked).flatMap(([name, lists]) =>
        lists.map((args) => ({ names: [name], action: allow, args })),
      ),
      ...(refusesSetUid ? modeRules : []),
    ],
  });
}
