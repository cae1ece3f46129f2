import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import {
  allowedCalls,
  forbiddenCalls,
  ownerlessMemoryCalls,
} from "../../src/runtime/bubblewrap/system-calls/allowed-calls.js";
import { arm64Numbers, x64Numbers } from "../../src/runtime/bubblewrap/system-calls/call-numbers.js";
import { seccompProgram } from "../../src/runtime/bubblewrap/system-calls/seccomp-filter.js";
import { seccompProfile } from "../../src/runtime/docker/engine/seccomp-profile.js";

const allow = 0x7fff0000;
const kill = 0x80000000;
const refused = (error: number): number => 0x00050000 | error;
const x64 = 0xc000003e;
const arm64 = 0xc00000b7;

describe("the system call filter", () => {
  test.each([
    ["lets read through", { arch: x64, nr: 0 }, allow],
    ["lets a thread be made", { arch: x64, nr: 56, args: [0x003d0f00] }, allow],
    ["refuses a clone into a new user namespace", { arch: x64, nr: 56, args: [0x10000000] }, refused(1)],
    ["refuses a clone into a new mount namespace", { arch: x64, nr: 56, args: [0x00020011] }, refused(1)],
    ["sends clone3 back to clone", { arch: x64, nr: 435 }, refused(38)],
    ["refuses ptrace", { arch: x64, nr: 101 }, refused(1)],
    ["refuses unshare", { arch: x64, nr: 272 }, refused(1)],
    ["refuses the kernel's keyring", { arch: x64, nr: 250 }, refused(1)],
    ["refuses io_uring", { arch: x64, nr: 425 }, refused(38)],
    ["lets a terminal be measured", { arch: x64, nr: 16, args: [0, 0x5413] }, allow],
    ["refuses to type into a terminal", { arch: x64, nr: 16, args: [0, 0x5412] }, refused(1)],
    ["lets a TCP socket be made", { arch: x64, nr: 41, args: [2] }, allow],
    ["lets the network interfaces be listed", { arch: x64, nr: 41, args: [16, 3, 0] }, allow],
    ["refuses the other netlink families", { arch: x64, nr: 41, args: [16, 3, 9] }, refused(97)],
    ["lets a descriptor be duplicated", { arch: x64, nr: 72, args: [3, 0] }, allow],
    ["refuses a lease on a file", { arch: x64, nr: 72, args: [3, 1024] }, refused(1)],
    ["lets a file be locked", { arch: x64, nr: 72, args: [3, 6] }, allow],
    ["refuses a lock without an owner", { arch: x64, nr: 72, args: [3, 37] }, refused(22)],
    ["lets a process be named", { arch: x64, nr: 157, args: [15] }, allow],
    ["refuses a filter by prctl", { arch: x64, nr: 157, args: [22, 2] }, refused(22)],
    ["refuses a filter by seccomp", { arch: x64, nr: 317, args: [1] }, refused(22)],
    ["refuses that also with high bits", { arch: x64, nr: 317, args: [2 ** 32 + 1] }, refused(22)],
    ["lets the actions of filters be asked for", { arch: x64, nr: 317, args: [2] }, allow],
    ["refuses cores that are shared with nobody", { arch: x64, nr: 157, args: [62] }, refused(22)],
    ["lets memory be mapped", { arch: x64, nr: 9, args: [0, 4096, 3, 0x22] }, allow],
    ["refuses the host's huge pages", { arch: x64, nr: 9, args: [0, 4096, 3, 0x40022] }, refused(12)],
    ["refuses a file of huge pages", { arch: x64, nr: 319, args: [0, 4] }, refused(22)],
    ["refuses shared memory of huge pages", { arch: x64, nr: 29, args: [0, 4096, 0o5600] }, refused(12)],
    ["lets a process set its own limits", { arch: x64, nr: 302, args: [0, 7, 0x1000] }, allow],
    ["lets a process set a limit of another kind", { arch: x64, nr: 160, args: [7, 0x1000] }, allow],
    ["lets the size of core files be read", { arch: x64, nr: 302, args: [0, 4, 0] }, allow],
    ["does as if the size of core files were set", { arch: x64, nr: 302, args: [0, 4, 2 ** 32] }, refused(0)],
    ["does so for the older call too", { arch: x64, nr: 160, args: [4, 0x1000] }, refused(0)],
    ["lets the limits of another be read", { arch: x64, nr: 302, args: [1, 7, 0] }, allow],
    ["refuses to set those of another", { arch: x64, nr: 302, args: [1, 7, 0x1000] }, refused(1)],
    [
      "refuses that also for an address with low bits of zero",
      { arch: x64, nr: 302, args: [1, 7, 2 ** 32] },
      refused(1),
    ],
    [
      "refuses the kernel's message queue families in a pair",
      { arch: x64, nr: 53, args: [30, 1] },
      refused(95),
    ],
    ["lets a pair of sockets be made", { arch: x64, nr: 53, args: [1, 1] }, allow],
    ["lets a UDP socket be made over IPv6", { arch: x64, nr: 41, args: [10, 0x80802, 17] }, allow],
    ["lets a sequence of packets go between processes", { arch: x64, nr: 41, args: [1, 5] }, allow],
    ["refuses MPTCP", { arch: x64, nr: 41, args: [2, 1, 262] }, refused(93)],
    ["refuses SCTP by its number", { arch: x64, nr: 41, args: [10, 1, 132] }, refused(93)],
    ["refuses SCTP by its type", { arch: x64, nr: 41, args: [2, 0x80005, 0] }, refused(94)],
    ["refuses DCCP by its type", { arch: x64, nr: 41, args: [10, 6, 0] }, refused(94)],
    ["lets a socket be tuned", { arch: x64, nr: 54, args: [3, 6, 1] }, allow],
    ["lets an option of another level have the same number", { arch: x64, nr: 54, args: [3, 1, 31] }, allow],
    ["lets a socket get a larger buffer", { arch: x64, nr: 54, args: [3, 1, 8] }, allow],
    ["refuses a filter of packets", { arch: x64, nr: 54, args: [3, 1, 26] }, refused(92)],
    ["refuses a program for packets", { arch: x64, nr: 54, args: [3, 1, 50] }, refused(92)],
    ["refuses a filter that spreads connections", { arch: x64, nr: 54, args: [3, 1, 51] }, refused(92)],
    ["refuses a program that spreads connections", { arch: x64, nr: 54, args: [3, 1, 52] }, refused(92)],
    ["refuses keys for addresses", { arch: x64, nr: 54, args: [3, 6, 14] }, refused(92)],
    ["refuses groups without number over IPv6", { arch: x64, nr: 54, args: [3, 41, 20] }, refused(92)],
    ["lets a socket be of IPv6 alone", { arch: x64, nr: 54, args: [3, 41, 26] }, allow],
    ["refuses TLS in the kernel", { arch: x64, nr: 54, args: [3, 6, 31] }, refused(92)],
    ["lets the personality be asked for", { arch: x64, nr: 135, args: [0xffffffff] }, allow],
    ["refuses to switch off randomised addresses", { arch: x64, nr: 135, args: [0x0040000] }, refused(1)],
    ["refuses another line discipline", { arch: x64, nr: 16, args: [0, 0x5423] }, refused(1)],
    ["does not know listmount", { arch: x64, nr: 458 }, refused(38)],
    ["does not know statmount", { arch: x64, nr: 457 }, refused(38)],
    ["does not know lsm_get_self_attr", { arch: x64, nr: 459 }, refused(38)],
    ["does not know lsm_set_self_attr", { arch: x64, nr: 460 }, refused(38)],
    ["does not know lsm_list_modules", { arch: x64, nr: 461 }, refused(38)],
    ["does not know memfd_secret", { arch: x64, nr: 447 }, refused(38)],
    ["does not know vmsplice", { arch: x64, nr: 278 }, refused(38)],
    ["does not know the numbers between the old and the new", { arch: x64, nr: 400 }, refused(38)],
    ["does not know what later kernels add", { arch: x64, nr: 470 }, refused(38)],
    ["does not know the highest number", { arch: x64, nr: 0xffffffff }, refused(38)],
    ["refuses a vsock socket", { arch: x64, nr: 41, args: [40] }, refused(97)],
    ["refuses a packet socket", { arch: x64, nr: 41, args: [17] }, refused(97)],
    ["refuses the x32 numbers", { arch: x64, nr: 0x40000000 + 101 }, refused(38)],
    ["kills a call of another architecture", { arch: 0x40000003, nr: 0 }, kill],
  ])("%s on x64", (_, call, verdict) => {
    expect(decide(seccompProgram("x64"), call)).toBe(verdict);
  });

  test.each([
    ["lets read through", { arch: arm64, nr: 63 }, allow],
    ["refuses ptrace", { arch: arm64, nr: 117 }, refused(1)],
    [
      "refuses a clone into a new network namespace",
      { arch: arm64, nr: 220, args: [0x40000000] },
      refused(1),
    ],
    ["refuses to set the limits of another", { arch: arm64, nr: 261, args: [1, 7, 0x1000] }, refused(1)],
    ["refuses a vsock socket", { arch: arm64, nr: 198, args: [40] }, refused(97)],
    ["refuses MPTCP", { arch: arm64, nr: 198, args: [2, 1, 262] }, refused(93)],
    ["refuses to switch off randomised addresses", { arch: arm64, nr: 92, args: [0x0040000] }, refused(1)],
    ["does not know listmount", { arch: arm64, nr: 458 }, refused(38)],
    ["does not know vmsplice", { arch: arm64, nr: 75 }, refused(38)],
    ["does not know what later kernels add", { arch: arm64, nr: 470 }, refused(38)],
    ["kills a call of another architecture", { arch: x64, nr: 0 }, kill],
  ])("%s on arm64", (_, call, verdict) => {
    expect(decide(seccompProgram("arm64"), call)).toBe(verdict);
  });

  const architectures = [
    { name: "x64", audit: x64, numbers: x64Numbers },
    { name: "arm64", audit: arm64, numbers: arm64Numbers },
  ] as const;

  test.each(architectures)("gives each call of $name the verdict of its list", ({ name, audit, numbers }) => {
    const program = seccompProgram(name);
    const decided = (names: readonly string[]) =>
      names.flatMap((call) => {
        const nr = numbers.get(call);
        return nr === undefined ? [] : [[call, decide(program, { arch: audit, nr })]];
      });
    const all = (names: readonly string[], verdict: number) =>
      names.filter((call) => numbers.has(call)).map((call) => [call, verdict]);
    const free = [...allowedCalls, ...ownerlessMemoryCalls];
    expect(decided(free)).toEqual(all(free, allow));
    expect(decided(forbiddenCalls)).toEqual(all(forbiddenCalls, refused(1)));
    const checked = [
      "clone",
      "fcntl",
      "ioctl",
      "memfd_create",
      "mmap",
      "personality",
      "prctl",
      "prlimit64",
      "seccomp",
      "setrlimit",
      "setsockopt",
      "shmget",
      "socket",
      "socketpair",
    ];
    const listed = new Set([...free, ...forbiddenCalls, ...checked]);
    const others = [...numbers.keys()].filter((call) => !listed.has(call));
    expect(decided(others)).toEqual(all(others, refused(38)));
  });

  test("knows the number of every call that it names", () => {
    const names = [...allowedCalls, ...ownerlessMemoryCalls, ...forbiddenCalls];
    expect(names.filter((name) => !x64Numbers.has(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(
      [...x64Numbers].filter(([name, number]) => number >= 424 && arm64Numbers.get(name) !== number),
    ).toEqual([]);
  });

  test.for([
    ["x64", x64Numbers, "#include <asm/unistd_64.h>"],
    [
      "arm64",
      arm64Numbers,
      `#define __BITS_PER_LONG 64
#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_SYS_CLONE3
#define __ARCH_WANT_MEMFD_SECRET
#include <asm-generic/unistd.h>`,
    ],
  ] as const)("has the numbers of the kernel's own header for %s", ([arch, numbers, header], { skip }) => {
    const compiled = spawnSync("gcc", ["-E", "-dM", "-D__BITS_PER_LONG=64", "-"], {
      input: header,
      encoding: "utf8",
    });
    skip(
      compiled.status !== 0 || (arch === "x64" && process.arch !== "x64"),
      "there is no compiler with these headers",
    );
    const defined = new Map(
      [...compiled.stdout.matchAll(/^#define __NR(\w+) (\w+)$/gm)].map(([, name = "", value = ""]) => [
        name,
        value,
      ]),
    );
    const value = (name: string): number => {
      const said = defined.get(name) ?? "";
      return said.startsWith("__NR") ? value(said.slice(4)) : Number(said);
    };
    const named = [...numbers].filter(([name]) => defined.has(`_${name}`));
    expect(named.length).toBeGreaterThan(290);
    expect(named.filter(([name, number]) => value(`_${name}`) !== number)).toEqual([]);
  });

  test.each(architectures)("costs few instructions for every call of $name", ({ name, audit, numbers }) => {
    const program = seccompProgram(name);
    const costs = [...numbers].map(([call, nr]) => [call, steps(program, { arch: audit, nr })] as const);
    expect(costs.filter(([, cost]) => cost > 20)).toEqual([]);
    expect(program?.length).toBeLessThan(4096 * 8);
  });

  test("refuses memory that belongs to no process where no control group counts it", () => {
    const memfdCreate = { arch: x64, nr: 319 };
    expect(decide(seccompProgram("x64", { countsAllMemory: true }), memfdCreate)).toBe(allow);
    expect(decide(seccompProgram("x64", { countsAllMemory: false }), memfdCreate)).toBe(refused(38));
  });

  test("decides as the profile for Docker does", () => {
    const program = seccompProgram("x64");
    const { syscalls } = JSON.parse(seccompProfile(false)) as { syscalls: readonly ProfileRule[] };
    const allowedByDocker = (name: string, args: readonly number[]): boolean =>
      syscalls.some(
        ({ names, action, args: conditions }) =>
          names.includes(name) &&
          action === "SCMP_ACT_ALLOW" &&
          conditions.every((condition) => holds(condition, args)),
      );
    const values = [
      0, 1, 2, 3, 4, 6, 8, 14, 16, 20, 22, 26, 31, 32, 36, 37, 41, 50, 52, 62, 1024, 0x5412, 0x40022,
    ];
    const calls = [...x64Numbers].flatMap(([name, nr]) =>
      values.flatMap((first) =>
        values.flatMap((second) =>
          [0, 26, 0x800, 0x40000].map((third) => ({ name, nr, args: [first, second, third, second] })),
        ),
      ),
    );
    const differing = calls.filter(
      ({ name, nr, args }) =>
        // A profile cannot say that the size of core files was set.
        !(name.endsWith("rlimit") || name === "prlimit64") &&
        (decide(program, { arch: x64, nr, args }) === allow) !== allowedByDocker(name, args),
    );
    expect(calls.length).toBeGreaterThan(100_000);
    expect(differing.slice(0, 5)).toEqual([]);
  });

  test("does not exist for an architecture whose numbers are not known", () => {
    expect(seccompProgram("mips")).toBeUndefined();
  });
});

interface ProfileRule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args: readonly ProfileCondition[];
}

interface ProfileCondition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: string;
}

/** Whether a condition of a profile holds, as libseccomp compares all 64 bits of an argument. */
function holds({ index, value, valueTwo, op }: ProfileCondition, args: readonly number[]): boolean {
  const argument = BigInt(args[index] ?? 0);
  return op === "SCMP_CMP_EQ"
    ? argument === BigInt(value)
    : (argument & BigInt(value)) === BigInt(valueTwo ?? 0);
}

interface SystemCall {
  readonly arch: number;
  readonly nr: number;
  readonly args?: readonly number[];
}

function decide(program: Buffer | undefined, call: SystemCall): number {
  return interpret(program, call).verdict;
}

function steps(program: Buffer | undefined, call: SystemCall): number {
  return interpret(program, call).steps;
}

/**
 * Runs a filter program as the kernel's machine for classic BPF does. Knows only the instructions that our filters use.
 */
function interpret(
  program: Buffer | undefined,
  { arch, nr, args = [] }: SystemCall,
): { verdict: number; steps: number } {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  const code = program ?? Buffer.alloc(0);
  let accumulator = 0;
  for (let at = 0, done = 1; at * 8 < code.length; at += 1, done += 1) {
    const k = code.readUInt32LE(at * 8 + 4);
    const jump = (condition: boolean): number => code.readUInt8(at * 8 + (condition ? 2 : 3));
    const instruction = code.readUInt16LE(at * 8);
    if (instruction === 0x20) accumulator = data.readUInt32LE(k);
    else if (instruction === 0x06) return { verdict: k, steps: done };
    else if (instruction === 0x05) at += k;
    else if (instruction === 0x15) at += jump(accumulator === k);
    else if (instruction === 0x35) at += jump(accumulator >= k);
    else if (instruction === 0x45) at += jump((accumulator & k) !== 0);
    else throw new Error(`Unknown instruction 0x${instruction.toString(16)} at ${at}.`);
  }
  throw new Error("The program ended without a verdict.");
}
