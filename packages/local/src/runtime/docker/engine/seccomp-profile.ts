import {
  allowedCalls,
  forbiddenCalls,
  ownerlessMemoryCalls,
} from "../../bubblewrap/system-calls/allowed-calls.js";
import {
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
} from "../../bubblewrap/system-calls/argument-rules.js";
import { arm64Numbers, x64Numbers } from "../../bubblewrap/system-calls/call-numbers.js";

const allow = "SCMP_ACT_ALLOW";
const refuse = "SCMP_ACT_ERRNO";

interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ";
}

const equals = (index: number, value: number): Condition => ({ index, value, op: "SCMP_CMP_EQ" });
const masked = (index: number, mask: number, rest: number): Condition => ({
  index,
  value: mask >>> 0,
  valueTwo: rest >>> 0,
  op: "SCMP_CMP_MASKED_EQ",
});
/** Whether the lower 32 bits of an argument are those of `value`. */
const sameInt = (index: number, value: number): Condition => masked(index, 0xffffffff, value);
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

/**
 * The calls that depend on their arguments: each is allowed when all conditions of one of its lists hold. See
 * `argument-rules.ts` for the reasons.
 */
const checked: Readonly<Record<string, readonly (readonly Condition[])[]>> = {
  clone: [[hasNone(0, newNamespaces)]],
  personality: harmlessPersonalities.map((value) => [equals(0, value)]),
  prlimit64: [[equals(0, 0)], [equals(2, 0)]],
  setsockopt: [
    ...each(
      differs(
        1,
        refusedSocketOptions.map(([level]) => level),
      ),
    ),
    ...refusedSocketOptions.flatMap(([level, options]) =>
      differs(2, options).map((condition) => [sameInt(1, level), condition]),
    ),
  ],
  socket: [
    [equals(0, socketFamily.unix)],
    [equals(0, socketFamily.netlink), equals(2, netlinkRoute)],
    ...socketFamily.internet.flatMap((family) =>
      socketProtocols.map((protocol) => [
        equals(0, family),
        hasNone(1, otherSocketTypes),
        equals(2, protocol),
      ]),
    ),
  ],
  // Unlike bubblewrap's filter, a profile cannot say that nothing was done. Code can undo the size of core files.
  setrlimit: [[]],
  socketpair: [[equals(0, socketFamily.unix)]],
  ...Object.fromEntries(
    Object.entries(refusedValues).map(([name, { argument, errors }]) => [
      name,
      each(differs(argument, Object.keys(errors).map(Number))),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(hugePages).map(([name, { argument, bits }]) => [name, [[hasNone(argument, bits)]]]),
  ),
};

function each(conditions: readonly Condition[]): Condition[][] {
  return conditions.map((condition) => [condition]);
}

/** The calls with values that are refused otherwise than a call that the kernel does not have. */
const refusals = Object.entries(refusedValues).flatMap(([name, { argument, errors }]) =>
  Object.entries(errors).map(([value, error]) => ({
    names: [name],
    action: refuse,
    errnoRet: error,
    args: [sameInt(argument, Number(value))],
  })),
);

/** Refuses the calls that would make a file set-uid or set-gid, where no file may be. */
const modeRules = Object.entries(modeArguments).flatMap(([name, index]) => {
  const whenSet = [0o4000, 0o2000].map((bit) => masked(index, bit, bit));
  return [
    { names: [name], action: allow, args: [hasNone(index, setUidBits)] },
    ...whenSet.map((condition) => ({
      names: [name],
      action: refuse,
      errnoRet: errno.EPERM,
      args: [condition],
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
      ...refusals,
      ...(refusesSetUid ? modeRules : []),
    ],
  });
}
