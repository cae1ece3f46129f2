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
page = ctypes.create_string_buffer(4096)
vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(page), 4096))
import os
reading, writing = os.pipe()
here = os.getpid()
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
};

/** Attempts to use parts of the kernel that programs do not need. */
export const kernel: readonly CodeAttack[] = [
  {
    name: "make system calls that programs do not need",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `${callAttempts}
import json
print(json.dumps({name: attempt() for name, attempt in attempts.items()}))`,
      );
      expect(JSON.parse(stdout)).toEqual(expected);
      return `${Object.keys(expected).length} calls end with the errno that programs expect`;
    },
  },
  {
    name: "get round the filter by a filter of its own",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `${callAttempts}
allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(allow)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
print(call(317 if x64 else 277, 1, 0, program))
print({attempts[name]() for name in ("listmount", "vmsplice")}, attempts["ptrace"]())`,
      );
      expect(stdout).toBe("OK\n{'ENOSYS'} EPERM\n");
      return "its own comes on top";
    },
  },
];
