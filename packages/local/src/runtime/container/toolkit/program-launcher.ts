import { codeUid } from "../paths.js";

/** Little-endian bytes of a number. */
function bytes(value: number, count: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeUIntLE(value, 0, 6);
  return buffer.subarray(0, count);
}

const code = Buffer.from(
  [
    // capset(header, sets); on failure go to the end, as after each of the next two
    ...["488d3d57000000", "488d3558000000", "b87e000000", "0f05", "85c0", "7539"],
    // setresgid(uid, uid, uid)
    ...["bf", bytes(codeUid, 4).toString("hex"), "89fe", "89fa", "b877000000", "0f05", "85c0", "7525"],
    // setresuid(uid, uid, uid): the kernel has kept the registers
    ...["b875000000", "0f05", "85c0", "751a"],
    // execve(argv[1], &argv[2], envp)
    ...["488b0424", "488b7c2410", "488d742418", "488d54c410", "b83b000000", "0f05"],
    // exit(126)
    ...["bf7e000000", "b83c000000", "0f05"],
    // header: the version, this process; sets: SETGID and SETUID, effective and permitted
    ...["22050820", "00000000", "c0000000", "c0000000", "00".repeat(16)],
  ].join(""),
  "hex",
);

/**
 * A program for Linux on x64 that takes on the uid and gid of code, for good, and becomes the program of its first argument, with
 * the other arguments and the variables as they are. It takes the capabilities for that from those that the agent is permitted.
 * It has no dynamic loader, which in gVisor would obey the `LD_PRELOAD` of a caller while the uid is still the agent's. Exits with
 * 126 if the program cannot be started.
 */
export function programLauncher(): Buffer {
  const [headSize, segmentSize, address] = [64, 56, 0x400000];
  const start = headSize + segmentSize;
  const size = start + code.length;
  const head = [
    // 64 bits, little-endian; an executable for x64
    ...[Buffer.from("7f454c46020101000000000000000000", "hex"), bytes(2, 2), bytes(62, 2), bytes(1, 4)],
    // where it starts, where the table of segments is; no sections
    ...[bytes(address + start, 8), bytes(headSize, 8), bytes(0, 8), bytes(0, 4)],
    ...[headSize, segmentSize, 1, 0, 0, 0].map((value) => bytes(value, 2)),
  ];
  // one segment, the whole file, to read and execute
  const segment = [
    bytes(1, 4),
    bytes(5, 4),
    ...[0, address, address, size, size, 4096].map((value) => bytes(value, 8)),
  ];
  return Buffer.concat([...head, ...segment, code]);
}
