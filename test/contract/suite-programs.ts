import type { ProgramAnswer, ProgramResult, TestingProgram } from "cloud-sandbox/testing";
import { programsFromFiles } from "./programs-from-files.js";

/**
 * Answers for the programs of the suite, for the service in memory, which runs nothing. If a program changes the
 * sandbox (its files, variables, processes), its answer does so too; what the suite then finds is the service's own
 * work.
 */
export function suitePrograms(program: TestingProgram): ProgramAnswer | undefined {
  const { text } = program;
  if (Object.hasOwn(byText, text)) return byText[text];
  for (const [pattern, answer] of byForm) {
    const match = pattern.exec(text);
    if (match) return () => answer(program, match[1] ?? "", match[2] ?? "");
  }
  return undefined;
}

/** Prints bytes of which some are no text. */
export const noText = String.raw`printf '\303\251\377\000\200(\n'`;
export const noTextBytes = Buffer.from([0xc3, 0xa9, 0xff, 0, 0x80, 0x28, 0x0a]);

const outErrThree: ProgramResult = { stdout: "out\n", stderr: "err\n", exitCode: 3 };

const waitingFor =
  (path: string): ProgramAnswer =>
  async ({ files, stdout, until }) => {
    stdout("first\n");
    await until(() => files.exists(path));
    return { stdout: "last\n", exitCode: 3 };
  };

const showing =
  (...displays: Record<string, unknown>[]): ProgramAnswer =>
  ({ display }) => {
    for (const data of displays) display(data);
  };

const textOf = async ({ stdin }: TestingProgram): Promise<string> => {
  let text = "";
  for await (const chunk of stdin) text += chunk;
  return text;
};
const stdinText: ProgramAnswer = textOf;

/** A program that prints the answer to a request, which no sandbox can make here. */
export const fetching = `from urllib.request import urlopen
try: urlopen("http://egress.example/")
except OSError as refused: print(refused.read().decode())`;

/** A program that displays two pages, in a way that IPython and Python without it show as HTML, and fails. */
export const twoPages = `class Page(str):
    def _repr_html_(self):
        return str(self)
display(Page("one"))
display(Page("two"))
raise ValueError("no")`;

const byText: Readonly<Record<string, ProgramAnswer>> = {
  ...Object.fromEntries(
    Object.values(programsFromFiles).map(({ code, stdout, exitCode = 0 }) => [code, { stdout, exitCode }]),
  ),
  [twoPages]: ({ display }) => {
    for (const page of ["one", "two"]) display({ "text/html": page });
    return { error: { name: "ValueError", value: "no", traceback: "ValueError: no\n" } };
  },
  "import sys\nprint(sys.stdin.read())": async (program) => `${await textOf(program)}\n`,
  true: "",
  pwd: ({ workdir }) => `${workdir}\n`,
  "import os; print(os.getcwd())": ({ workdir }) => `${workdir}\n`,
  "echo $((6 * 7)) | tr 4 5": "52\n",
  "echo a | tr a b && pwd": ({ workdir }) => `b\n${workdir}\n`,
  "echo $((6 * 7)); echo $NAME >&2": ({ env }) => ({ stdout: "42\n", stderr: `${env.NAME}\n` }),
  "printf 0123456789": "0123456789",
  [noText]: ({ stdout }) => stdout(noTextBytes),
  "node -p '6 * 7'": "42\n",
  "python -c 'print(6 * 7)'; pip --version | cut -c -4": "42\npip \n",
  "printf %s| $HOME a b": ({ args = [] }) =>
    args
      .slice(1)
      .map((argument) => `${argument}|`)
      .join(""),

  // A program in each language that writes to both streams and has an exit code.
  "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)": outErrThree,
  "console.log('out'); console.error('err'); process.exit(3)": outErrThree,
  "echo out; echo err >&2; exit 3": outErrThree,
  'package main\nimport ("fmt"; "os")\nfunc main() { fmt.Println("out"); fmt.Fprintln(os.Stderr, "err"); os.Exit(3) }':
    outErrThree,
  "echo out; exit 3": { stdout: "out\n", exitCode: 3 },

  "import os, helper\nprint(os.getcwd(), os.environ['NAME'], helper.answer)": ({ env, files, workdir }) => {
    const [, answer] = /answer = (\d+)/.exec(files.readText(`${workdir}/helper.py`)) ?? [];
    return `${workdir} ${env.NAME} ${answer}\n`;
  },
  "import os; print(os.getpid(), 'x' in globals())": ({ variables }) =>
    `${Math.floor(Math.random() * 1e9)} ${variables.has("x") ? "True" : "False"}\n`,
  "import random; print(random.random())": () => `${Math.random()}\n`,
  "import os; os._exit(3)": { exitCode: 3, contextLost: true },

  "print('started', flush=True)\nimport time\ntime.sleep(60)": async ({ sleep, stdout }) => {
    stdout("started\n");
    await sleep(60);
  },
  "import time\nfor n in range(3): print(n, flush=True); time.sleep(1)\nraise SystemExit(4)": async ({
    sleep,
    stdout,
  }) => {
    for (const n of [0, 1, 2]) {
      stdout(`${n}\n`);
      await sleep(1);
    }
    return { exitCode: 4 };
  },
  "import sys\nfor _ in range(50_000): sys.stdout.write('x' * 99 + '\\n')": ({ stdout }) => {
    for (let line = 0; line < 50_000; line++) stdout(`${"x".repeat(99)}\n`);
  },
  "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr, flush=True)\ninput_ = 6 * 7\ninput_":
    ({ variables }) => {
      variables.set("input_", "42");
      return { stdout: "out\n", stderr: "err\n", value: "42" };
    },
  "await new Promise((resolve) => setTimeout(resolve, 60_000))": ({ sleep }) => sleep(60),

  "echo first; until [ -e /tmp/go-on ]; do sleep 0.05; done; echo last; exit 3": waitingFor("/tmp/go-on"),
  "echo first; until [ -e /tmp/stream-on ]; do sleep 0.02; done; echo last; exit 3":
    waitingFor("/tmp/stream-on"),
  "(while :; do date +%s%N > /tmp/tick; mv /tmp/tick /tmp/ticks; sleep 0.02; done) >/dev/null 2>&1 &": ({
    files,
    spawn,
  }) =>
    spawn("ticking", async ({ signal, sleep }) => {
      for (let tick = 0; !signal.aborted; tick++) {
        files.write("/tmp/ticks", `${tick}\n`);
        await sleep(0.02);
      }
    }),
  "setsid sleep 65432 & sleep 65432": async ({ sleep, spawn }) => {
    for (let process = 0; process < 2; process++) spawn("sleep 65432");
    await sleep(65_432);
  },
  "stty size; sleep 65499": async ({ sleep, spawn, stdout, terminal }) => {
    stdout(`${terminal?.rows} ${terminal?.cols}\n`);
    spawn("sleep 65499");
    await sleep(65_499);
  },
  "stty size": ({ terminal }) => `${terminal?.rows} ${terminal?.cols}\n`,

  "sleep 3; echo end > /workspace/end": async ({ files, sleep }) => {
    await sleep(3);
    files.write("/workspace/end", "end\n");
  },
  "sleep 3; echo end": async ({ sleep, spawn }) => {
    spawn("sleep 3");
    await sleep(3);
    return "end\n";
  },
  "cat /dev/stdin": stdinText,
  "[ -p /dev/stdin ] && cat": stdinText,
  "./no-program": { exitCode: 126 },
  "/workspace": { exitCode: 126 },
  "./nothing": { exitCode: 127 },
  tac: async ({ stdin }) => {
    let text = "";
    for await (const piece of stdin) text += piece;
    return `${text.trimEnd().split("\n").reverse().join("\n")}\n`;
  },
  "cat; trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done": async ({
    onSignal,
    stdin,
    stdout,
    until,
  }) => {
    for await (const piece of stdin) stdout(piece);
    let isCaught = false;
    onSignal(() => {
      isCaught = true;
    });
    stdout("ready\n");
    await until(() => isCaught);
    return { stdout: "caught\n", exitCode: 7 };
  },

  "class Shown:\n  def _repr_html_(self): return '<b>shown</b>'\nShown()": showing({
    "text/html": "<b>shown</b>",
  }),
  "class Shown:\n  def _repr_html_(self): return '<b>1</b>'\ndisplay({'text/markdown': '*2*'}, raw=True)\nShown()":
    showing({ "text/markdown": "*2*" }, { "text/html": "<b>1</b>" }),

  "mkdir deep": ({ files, workdir }) => files.makeDirectory(`${workdir}/deep`),
  "echo > deep/new": ({ files, workdir }) => files.write(`${workdir}/deep/new`, "\n"),
  "mv deep/new deep/old": ({ files, workdir }) => files.rename(`${workdir}/deep/new`, `${workdir}/deep/old`),
  "rm deep/old": ({ files, workdir }) => files.remove(`${workdir}/deep/old`),
  "echo made > /workspace/made": ({ files }) => files.write("/workspace/made", "made\n"),
  'stat -c "%s %a" proof/write.bin': ({ files }) => {
    const { mode, size } = files.stat("proof/write.bin");
    return `${size} ${mode.toString(8)}\n`;
  },
  "od -An -tu1 proof-uploaded.bin": ({ files }) =>
    `${[...files.read("proof-uploaded.bin")].map((byte) => String(byte).padStart(4)).join("")}\n`,
  [`python3 -c ${fetching}`]: ({ connect }) => connect("http://egress.example/").reason,
};

type FormAnswer = (program: TestingProgram, first: string, second: string) => ReturnType<Acting>;
type Acting = Extract<ProgramAnswer, (program: TestingProgram) => string | ProgramResult | Promise<unknown>>;

/** The value of a variable in the context, as the last expression would give it. */
const told = ({ variables }: TestingProgram, name: string): ProgramResult =>
  variables.has(name)
    ? { value: String(variables.get(name)) }
    : {
        stderr: `${name} is not defined\n`,
        error: { name: "NameError", value: `${name} is not defined`, traceback: "" },
      };

const byForm: readonly (readonly [RegExp, FormAnswer])[] = [
  [/^print\(6 \* 7\)$/, () => "42\n"],
  [/^print\((\d+)\)$/, (_, number) => `${number}\n`],
  [/^print\('(.*)'\)$/, (_, text) => `${text}\n`],
  [/^(?:raise SystemExit\((\d+)\))$/, (_, code) => ({ exitCode: Number(code) })],
  [/^: 'x+'; echo end$/, () => "end\n"],
  [/^exit (\d+)$/, (_, code) => ({ exitCode: Number(code) })],
  [/^import time(?:\n|; )time\.sleep\((\d+)\)$/, (program, seconds) => slept(program, seconds)],
  [/^sleep (\d+)$/, (program, seconds) => slept(program, seconds)],
  [
    /^for f in \/proc.* grep -cx '(.+) '$/,
    ({ processes }, commandLine) => {
      const count = processes().filter((command) => command === commandLine).length;
      return { stdout: `${count}\n`, exitCode: count > 0 ? 0 : 1 };
    },
  ],
  [/^cat (\S+)$/, ({ files }, path) => files.readText(path)],
  [
    /^echo ?(.*)$/,
    ({ args, env }, text) =>
      `${args ? args.join(" ") : text.replace(/\$(\w+)/g, (_, name: string) => env[name] ?? "")}\n`,
  ],
  [
    /^(?:let )?(\w+) = (\d+)$/,
    ({ variables }, name, value) => {
      variables.set(name, Number(value));
      return {};
    },
  ],
  [
    /^(\w+) \+= (\d+)$/,
    ({ variables }, name, value) => {
      variables.set(name, Number(variables.get(name)) + Number(value));
      return {};
    },
  ],
  [/^'(\w+)' in globals\(\)$/, ({ variables }, name) => ({ value: variables.has(name) ? "True" : "False" })],
  [/^(\d+)$/, (_, number) => ({ value: number })],
  [/^([a-z_]+)$/, told],
  [
    /^display\(\{"image\/png": "(.*)"\}, raw=True\)\ndisplay\(\{"application\/json": (.*)\}, raw=True\)$/,
    ({ display }, image, json) => {
      display({ "image/png": image });
      display({ "application/json": JSON.parse(json) as unknown });
      return {};
    },
  ],
];

async function slept({ sleep }: TestingProgram, seconds: string): Promise<ProgramResult> {
  await sleep(Number(seconds));
  return {};
}
