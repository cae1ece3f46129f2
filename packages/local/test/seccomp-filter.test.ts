import { describe, expect, test } from "vitest";
import { seccompProgram } from "../src/runtime/seccomp-filter.js";

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
    ["lets a process set its own limits", { arch: x64, nr: 302, args: [0, 7, 0x1000] }, allow],
    ["lets the limits of another be read", { arch: x64, nr: 302, args: [1, 7, 0] }, allow],
    ["refuses to set those of another", { arch: x64, nr: 302, args: [1, 7, 0x1000] }, refused(1)],
    [
      "refuses that also for an address with low bits of zero",
      { arch: x64, nr: 302, args: [1, 7, 2 ** 32] },
      refused(1),
    ],
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
    ["kills a call of another architecture", { arch: x64, nr: 0 }, kill],
  ])("%s on arm64", (_, call, verdict) => {
    expect(decide(seccompProgram("arm64"), call)).toBe(verdict);
  });

  test("refuses memory that belongs to no process where no control group counts it", () => {
    const memfdCreate = { arch: x64, nr: 319 };
    expect(decide(seccompProgram("x64", { countsAllMemory: true }), memfdCreate)).toBe(allow);
    expect(decide(seccompProgram("x64", { countsAllMemory: false }), memfdCreate)).toBe(refused(38));
  });

  test("does not exist for an architecture whose numbers are not known", () => {
    expect(seccompProgram("mips")).toBeUndefined();
  });
});

interface SystemCall {
  readonly arch: number;
  readonly nr: number;
  readonly args?: readonly number[];
}

/** Runs the program as the kernel's classic BPF machine would, for the instructions that it uses. */
function decide(program: Buffer | undefined, { arch, nr, args = [] }: SystemCall): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  const code = program ?? Buffer.alloc(0);
  let accumulator = 0;
  for (let at = 0; at * 8 < code.length; at += 1) {
    const k = code.readUInt32LE(at * 8 + 4);
    const jump = (condition: boolean): number => code.readUInt8(at * 8 + (condition ? 2 : 3));
    const instruction = code.readUInt16LE(at * 8);
    if (instruction === 0x20) accumulator = data.readUInt32LE(k);
    else if (instruction === 0x06) return k;
    else if (instruction === 0x15) at += jump(accumulator === k);
    else if (instruction === 0x35) at += jump(accumulator >= k);
    else if (instruction === 0x45) at += jump((accumulator & k) !== 0);
    else throw new Error(`Unknown instruction 0x${instruction.toString(16)} at ${at}.`);
  }
  throw new Error("The program ended without a verdict.");
}
