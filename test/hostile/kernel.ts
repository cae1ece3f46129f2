import { expect } from "vitest";
import { type CodeAttack, python } from "./attack.js";

/** System calls that must fail, by architecture: the call as Python writes it, and its errno. */
const callAttempts = `
import ctypes, errno, platform, struct
libc = ctypes.CDLL(None, use_errno=True)
x64 = platform.machine() == "x86_64"
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    return "OK" if result != -1 else errno.errorcode[ctypes.get_errno()]
def call_result(number, *arguments): return libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
page = ctypes.create_string_buffer(4096)
vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(page), 4096))
import os
reading, writing = os.pipe()
here = os.getpid()
everything = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(everything)))
def option(level, name, value):
    made = call_result(41 if x64 else 198, 10 if level == 41 else 2, 1 if level == 6 else 2, 0)
    return call(54 if x64 else 208, made, level, name, ctypes.create_string_buffer(value, len(value)), len(value))
attempts = {
    "listmount": lambda: call(458, page, page, 1, 0),
    "statmount": lambda: call(457, page, page, 512, 0),
    "lsm_get_self_attr": lambda: call(459, 100, page, page, 0),
    "lsm_set_self_attr": lambda: call(460, 100, page, 512, 0),
    "lsm_list_modules": lambda: call(461, page, page, 0),
    "memfd_secret": lambda: call(447, 0),
    "vmsplice": lambda: call(278 if x64 else 75, writing, vector, 1, 0),
    "cachestat": lambda: call(451, 0, page, page, 0),
    "clone3": lambda: call(435, page, 88),
    "io_uring_setup": lambda: call(425, 8, page),
    "open_tree": lambda: call(428, -100, b"/", 0),
    "fsopen": lambda: call(430, b"tmpfs", 0),
    "an unknown call": lambda: call(599),
    "personality without randomised addresses": lambda: call(135 if x64 else 92, 0x0040000),
    "ptrace": lambda: call(101 if x64 else 117, 0, 0, 0, 0),
    "process_vm_readv": lambda: call(310 if x64 else 270, here, vector, 1, vector, 1, 0),
    "pidfd_getfd": lambda: call(438, 0, 0, 0),
    "unshare": lambda: call(272 if x64 else 97, 0x10000000),
    "setns": lambda: call(308 if x64 else 268, 0, 0),
    "bpf": lambda: call(321 if x64 else 280, 0, page, 72),
    "perf_event_open": lambda: call(298 if x64 else 241, page, 0, -1, -1, 0),
    "userfaultfd": lambda: call(323 if x64 else 282, 1),
    "add_key": lambda: call(248 if x64 else 217, b"user", b"name", b"x", 1, -4),
    "MPTCP": lambda: call(41 if x64 else 198, 2, 1, 262),
    "SCTP by protocol": lambda: call(41 if x64 else 198, 2, 1, 132),
    "SCTP by type": lambda: call(41 if x64 else 198, 2, 5, 0),
    "a TIPC pair": lambda: call(53 if x64 else 199, 30, 1, 0, page),
    "vsock": lambda: call(41 if x64 else 198, 40, 1, 0),
    "another line discipline": lambda: call(16 if x64 else 29, os.openpty()[1], 0x5423, page),
    "a filter of packets": lambda: option(1, 26, struct.pack("HxxxxxxQ", 1, ctypes.addressof(everything))),
    "a program for packets": lambda: option(1, 50, struct.pack("i", 0)),
    "a filter that spreads connections": lambda: option(1, 51, struct.pack("HxxxxxxQ", 1, ctypes.addressof(everything))),
    "a program that spreads connections": lambda: option(1, 52, struct.pack("i", 0)),
    "keys for addresses": lambda: option(6, 14, bytes(216)),
    "groups without number": lambda: option(41, 20, bytes(20)),
    "labels of flows": lambda: option(41, 32, bytes(32)),
    "a filter of system calls": lambda: call(317 if x64 else 277, 1, 0, program),
    "a filter of system calls, by prctl": lambda: call(157 if x64 else 167, 22, 2, program),
    "a share of a processor": lambda: call(157 if x64 else 167, 62, 1, 0, 0, 0),
    "a lock without an owner": lambda: call(72 if x64 else 25, reading, 37, page),
    "huge pages": lambda: call(9 if x64 else 222, 0, 2 << 20, 3, 0x40022, -1, 0),
    "a file of huge pages": lambda: call(319 if x64 else 279, b"name", 4),
    "shared memory of huge pages": lambda: call(29 if x64 else 194, 0, 2 << 20, 0o5600),
    "typing into a terminal": lambda: call(16 if x64 else 29, os.openpty()[1], 0x5412, b"x"),
}
`;

const expected: Readonly<Record<string, string>> = {
  listmount: "ENOSYS",
  statmount: "ENOSYS",
  lsm_get_self_attr: "ENOSYS",
  lsm_set_self_attr: "ENOSYS",
  lsm_list_modules: "ENOSYS",
  memfd_secret: "ENOSYS",
  vmsplice: "ENOSYS",
  cachestat: "ENOSYS",
  clone3: "ENOSYS",
  io_uring_setup: "ENOSYS",
  open_tree: "ENOSYS",
  fsopen: "ENOSYS",
  "an unknown call": "ENOSYS",
  "personality without randomised addresses": "EPERM",
  ptrace: "EPERM",
  process_vm_readv: "EPERM",
  pidfd_getfd: "EPERM",
  unshare: "EPERM",
  setns: "EPERM",
  bpf: "EPERM",
  perf_event_open: "EPERM",
  userfaultfd: "EPERM",
  add_key: "EPERM",
  MPTCP: "EPROTONOSUPPORT",
  "SCTP by protocol": "EPROTONOSUPPORT",
  "SCTP by type": "ESOCKTNOSUPPORT",
  "a TIPC pair": "ENOTSUP",
  vsock: "EAFNOSUPPORT",
  "another line discipline": "EPERM",
  "typing into a terminal": "EPERM",
  "a filter of packets": "ENOPROTOOPT",
  "a program for packets": "ENOPROTOOPT",
  "a filter that spreads connections": "ENOPROTOOPT",
  "a program that spreads connections": "ENOPROTOOPT",
  "keys for addresses": "ENOPROTOOPT",
  "groups without number": "ENOPROTOOPT",
  "labels of flows": "ENOPROTOOPT",
  "a filter of system calls": "EINVAL",
  "a filter of system calls, by prctl": "EINVAL",
  "a share of a processor": "EINVAL",
  "a lock without an owner": "EINVAL",
  "huge pages": "ENOMEM",
  "a file of huge pages": "EINVAL",
  "shared memory of huge pages": "ENOMEM",
};

/** Attempts to use parts of the kernel that programs do not need. */
export const kernel: readonly CodeAttack[] = [
  {
    name: "make system calls that programs do not need",
    async attempt({ sandbox, isRoot }) {
      const { stdout } = await python(
        sandbox,
        `${callAttempts}
import json
print(json.dumps({name: attempt() for name, attempt in attempts.items()}))`,
      );
      // Without a control group, these calls do not exist at all.
      const uncounted = { "a file of huge pages": "ENOSYS", "shared memory of huge pages": "ENOSYS" };
      expect(JSON.parse(stdout)).toEqual({ ...expected, ...(isRoot ? {} : uncounted) });
      return `${Object.keys(expected).length} calls end with the errno that programs expect`;
    },
  },
];
