import fc from "fast-check";
import type { MeaningfulValues } from "./schema-arbitrary.js";

/** Placeholders in requests. `FuzzTarget` replaces them with the id of a sandbox, job or build that exists. */
export const placeholders = { sandbox: "{sandbox}", job: "{job}", build: "{build}" } as const;

const paths = [
  ...[
    "/workspace",
    "/workspace/",
    ".",
    "/tmp",
    "/workspace/text.txt",
    "text.txt",
    "new/deep/file",
    "/tmp/other",
  ],
  ...[
    "/workspace/link-out",
    "/workspace/link-out/passwd",
    "/workspace/loop",
    "/workspace/fifo",
    "/workspace/binary",
  ],
  ...[
    "/",
    "/etc/passwd",
    "/workspace/../etc/passwd",
    "/workspace/text.txt/below",
    "/proc/self/environ",
    "//tmp//x",
  ],
  ...["/workspace/directory", "/workspace/directory/", `/workspace/${"n".repeat(300)}`, "d/".repeat(1500)],
];
const programs = [
  ...["print(6 * 7)", "x = 1", "x + 1", "raise ValueError('no')", "import sys; sys.exit(3)", "def broken(:"],
  ...[
    "console.log(1)",
    "throw new Error('no')",
    "process.exit(3)",
    "echo out; echo err >&2",
    "exit 3",
    "kill -9 $$",
  ],
  ...["", "\n", "# nothing", 'package main\nfunc main() { println("go") }'],
];
/** Names and paths that are longer than the kernel allows. */
const tooLong = [
  "n".repeat(300),
  "n".repeat(5000),
  `/tmp/${"deep/".repeat(1000)}`,
  `/workspace/${"é".repeat(150)}`,
];
/** Addresses for webhooks. Nothing listens on any of them, so that no request leaves this machine. */
const addresses = [
  "http://127.0.0.1:9/done",
  "http://localhost:9",
  "http://[::1]:9/",
  "http://hook.invalid/",
  "file:///etc/passwd",
];

const someOf = (...values: unknown[]) => fc.constantFrom(...values);
const variables = someOf(
  {},
  { NAME: "value" },
  { A_TOKEN: "***MASKED***" },
  { PATH: "/usr/bin:/bin", EMPTY: "" },
);

export const meaningful: MeaningfulValues = {
  path: someOf(...paths, ...tooLong),
  new_path: someOf(...paths, ...tooLong),
  workdir: someOf("/workspace", "/tmp", "directory", "/nowhere", "/workspace/text.txt", ...tooLong),
  working_dir: someOf("/workspace", "/tmp", "/nowhere", ...tooLong),
  shell: someOf("sh", "bash", "/bin/sh", "no-such-shell", "/workspace", ...tooLong),
  code: someOf(...programs),
  language: someOf("python", "javascript", "bash", "python3", "node", "nodejs", "js", "sh", "shell"),
  command: someOf(
    "true",
    "echo hi",
    "exit 3",
    "ls /workspace",
    "no-such-program",
    "/workspace",
    "cat",
    ...tooLong,
  ),
  args: someOf([], ["-c", "echo hi"], ["a b", "'", "$(id)"]),
  content: someOf("text", "", "aGVsbG8=", "\u{1f600}"),
  encoding: someOf("base64", "utf-8"),
  mode: someOf("0644", "755", "0000", "7777"),
  // Seconds: long enough for the programs above, and short for a program that never ends.
  timeout: someOf(1, 2, 3),
  // Seconds that a request waits for output. The contract allows 60, which is longer than this test waits for an
  // answer.
  wait: someOf(0, 1, 2),
  env: variables,
  env_vars: variables,
  process_id: someOf(placeholders.job, "cmd_0", "proc_0"),
  callback_url: someOf(...addresses),
  id: someOf(placeholders.sandbox, placeholders.sandbox, "1700000000abcdefgh"),
  name: someOf("base", "code-interpreter", "nothing", "fuzz", ...tooLong),
  template_name: someOf("base", "code-interpreter", "nothing"),
  template_id: someOf("20", "21", 20, "nothing"),
  templateID: someOf("20", "nothing"),
  buildID: someOf(placeholders.build, "nothing"),
  timeout_seconds: someOf(60, 300, 86_400),
  from_image: someOf("base", "code-interpreter", "ubuntu:22.04"),
  files_hash: someOf("0".repeat(64), "a".repeat(64)),
};
