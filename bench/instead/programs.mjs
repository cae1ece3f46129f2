/** The length of the file that a program reads, in bytes. */
export const fileLength = 10_000_000;

/** What each program prints. */
export const outputs = { print: "1", sum: "499999500000", file: String(fileLength) };

/** The programs in Python. `directory`: where they find the file. `wait` waits until its input ends. */
export const pythonPrograms = (directory) => ({
  print: "print(1)",
  sum: "print(sum(range(1_000_000)))",
  file: `print(len(open("${directory}/file").read()))`,
  wait: "print(1, flush=True); import sys; sys.stdin.read()",
});

export const javascriptPrograms = (directory) => ({
  print: "console.log(1)",
  sum: "let sum = 0; for (let i = 0; i < 1_000_000; i += 1) sum += i; console.log(sum)",
  file: `console.log(require("node:fs").readFileSync("${directory}/file", "utf8").length)`,
  wait: "console.log(1); process.stdin.resume()",
});
