import type { Sandbox, SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";

interface FileProgram {
  readonly language: "python" | "javascript" | "bash";
  readonly code: string;
  readonly stdout: string;
  /** Default 0. */
  readonly exitCode?: number;
  readonly filename?: string;
}

const python = (code: string, stdout: string, more: Partial<FileProgram> = {}): FileProgram => ({
  ...{ language: "python", code, stdout },
  ...more,
});
const javascript = (code: string, stdout: string, more: Partial<FileProgram> = {}): FileProgram => ({
  ...{ language: "javascript", code, stdout },
  ...more,
});

const bash = (code: string, stdout: string, more: Partial<FileProgram> = {}): FileProgram => ({
  ...{ language: "bash", code, stdout },
  ...more,
});

/** Programs, and what they do as `python3 FILE`, `node FILE` and `bash FILE`. */
export const programsFromFiles: Readonly<Record<string, FileProgram>> = {
  "waits for its threads": python(
    "import threading, time\nsaid = threading.Event()\ndef work():\n    said.wait()\n    time.sleep(0.3)\n    print('late')\nthreading.Thread(target=work).start()\nprint('main')\nsaid.set()",
    "main\nlate\n",
  ),
  "waits for what it submitted": python(
    "from concurrent.futures import ThreadPoolExecutor\nimport threading, time\nsaid = threading.Event()\n_ = ThreadPoolExecutor(1).submit(lambda: (said.wait(), time.sleep(0.3), print('late')))\nprint('main')\nsaid.set()",
    "main\nlate\n",
  ),
  "runs its exit handlers": python(
    "import atexit\n_ = atexit.register(print, 'bye')\nprint('main')",
    "main\nbye\n",
  ),
  "runs its exit handlers after a failure": python(
    "import atexit\n_ = atexit.register(print, 'bye')\nraise SystemExit(4)",
    "bye\n",
    { exitCode: 4 },
  ),
  "writes its buffers": python(
    "import os\nheld = os.fdopen(os.dup(1), 'w')\n_ = held.write('held\\n')",
    "held\n",
  ),
  "ends its tasks": python(
    "import asyncio\nasync def work():\n    try:\n        await asyncio.sleep(60)\n    finally:\n        print('cancelled')\nasync def main():\n    global task\n    task = asyncio.create_task(work())\n    await asyncio.sleep(0)\nawait main()",
    "cancelled\n",
  ),
  "starts itself anew": python(
    "import multiprocessing\ndef work():\n    print('child', flush=True)\nif __name__ == '__main__':\n    child = multiprocessing.get_context('spawn').Process(target=work)\n    child.start()\n    child.join()\n    print(child.exitcode)",
    "child\n0\n",
  ),
  "reads its own text": python("# here\nprint(open(__file__).readline(), end='')", "# here\n"),
  "with a mark of its encoding": python("\uFEFFprint('marked')", "marked\n"),
  "knows its name": python(
    "import os, sys\nprint(os.path.basename(sys.argv[0]), os.path.basename(__file__), os.path.dirname(__file__))",
    "report.py report.py /workspace\n",
    { filename: "report.py" },
  ),
  "ends as interrupted": python("print('main')\nraise KeyboardInterrupt", "main\n", { exitCode: 130 }),
  "is interrupted as any other": python(
    "import signal\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)",
    "True\n",
  ),
  "has the interpreter's own hook": python(
    "import sys\nprint(sys.excepthook is sys.__excepthook__)",
    "True\n",
  ),
  "ends its variables": python(
    "class Kept:\n    def __del__(self):\n        print('ended')\nkept = Kept()\nprint('main')",
    "main\nended\n",
  ),
  "ends its children as itself": python(
    "import atexit, os\n_ = atexit.register(lambda: print('bye', flush=True))\nif child := os.fork():\n    _ = os.waitpid(child, 0)",
    "bye\nbye\n",
  ),
  "finds its modules from everywhere": python(
    "import os, sys\nhere = os.getcwd()\nos.chdir('/')\nprint(sys.path[0] == here)",
    "True\n",
  ),
  "is the main module": javascript("if (require.main === module) console.log('main')", "main\n"),
  "knows its place": javascript(
    "console.log(__dirname, require('path').dirname(process.argv[1]))",
    "/workspace /workspace\n",
  ),
  "knows its name as JavaScript": javascript(
    "console.log(require('path').basename(__filename))",
    "report.cjs\n",
    {
      filename: "report.cjs",
    },
  ),
  exports: javascript(
    "export const answer = 42;\nexport default answer;\nconsole.log(typeof import.meta.url, answer)",
    "string 42\n",
  ),
  "runs its handlers of exit": javascript(
    "process.on('beforeExit', () => console.log('before'));\nprocess.on('exit', (code) => console.log('exit', code));\nconsole.log('main')",
    "main\nbefore\nexit 0\n",
  ),
  "runs its handlers of exit after process.exit": javascript(
    "process.on('exit', (code) => console.log('exit', code));\nprocess.exit(3)",
    "exit 3\n",
    { exitCode: 3 },
  ),
  "ends with 0 where process.exit says so": javascript("console.log('main');\nprocess.exit(0)", "main\n"),
  "fails in a handler of its errors": javascript(
    "process.on('uncaughtException', () => { throw new Error('again'); });\nthrow new Error('why')",
    "",
    { exitCode: 7 },
  ),
  "takes its errors by a callback": javascript(
    "process.setUncaughtExceptionCaptureCallback(({ message }) => console.log(message));\nthrow new Error('why')",
    "why\n",
  ),
  "handles a signal once": javascript(
    "const timer = setTimeout(() => undefined, 60_000);\nprocess.once('SIGINT', () => { console.log('once'); clearTimeout(timer); });\nprocess.kill(process.pid, 'SIGINT')",
    "once\n",
  ),
  "goes on after its own signals that end nothing": javascript(
    "process.kill(process.pid, 'SIGWINCH');\nprocess.kill(process.pid, 28);\nconsole.log(process.kill(process.pid, 'SIGCONT'))",
    "true\n",
  ),
  "ends by a signal that it does not handle": javascript(
    "setTimeout(() => undefined, 60_000);\nconsole.log('main');\nprocess.kill(process.pid, 'SIGINT')",
    "main\n",
    { exitCode: 130 },
  ),
  "declares what is global anew": javascript(
    "const process = require('node:process'), { Buffer } = require('node:buffer');\nclass Map {}\nconsole.log(process.pid > 0, Buffer.name, new Map() instanceof Map)",
    "true Buffer true\n",
  ),
  "keeps its exit code": javascript("process.exitCode = 5;\nprocess.exit();", "", { exitCode: 5 }),
  "may return": javascript(
    "var own = 1;\nconsole.log(this === module.exports, arguments.length, typeof globalThis.own);\nif (require.main === module) return;\nconsole.log('never')",
    "true 5 undefined\n",
  ),
  "may change its exit code while it exits": javascript(
    "process.on('exit', () => { process.exitCode = 5; })",
    "",
    {
      exitCode: 5,
    },
  ),
  "handles its own errors": javascript(
    "process.on('uncaughtException', (error) => console.log('caught', error.message));\nsetTimeout(() => { throw new Error('why'); })",
    "caught why\n",
  ),
  "knows its own file as bash": bash(`[ "$0" = "\${BASH_SOURCE[0]}" ] && [ -f "$0" ] && echo main`, "main\n"),
  "knows its name as bash": bash(
    `echo "$0" "$(dirname "$0")"; cat "$0"`,
    '/workspace/report.sh /workspace\necho "$0" "$(dirname "$0")"; cat "$0"',
    {
      filename: "report.sh",
    },
  ),
  "starts itself anew as bash": bash(`if [ -z "$1" ]; then bash "$0" anew; else echo "$1"; fi`, "anew\n"),
  "waits for its timers": javascript(
    "setTimeout(() => console.log('late'), 300);\nconsole.log('main')",
    "main\nlate\n",
  ),
};

/**
 * What a program does from its start to its end, without a context: as one-shot, streamed and as a job. Where a sandbox takes seconds
 * to start, each program runs in one of these ways: its driver is the same in all.
 */
export function programsFromFilesSuite(
  client: () => SandboxClient,
  sandbox: () => Sandbox,
  startsFast: boolean,
): void {
  type Ended = { readonly stdout: string; readonly exitCode: number };
  type Run = (program: FileProgram) => Promise<Ended>;
  const ways: Readonly<Record<string, Run>> = {
    "an execution that needs no sandbox": ({ code, language, filename }) =>
      client().executeIsolated(code, { language, filename }),
    "a streamed one": async ({ code, language, filename }) => {
      const stream = client().executeIsolatedStream(code, { language, filename });
      let stdout = "";
      for await (const event of stream) if (event.type === "stdout") stdout += event.text;
      return { stdout, exitCode: (await stream.result()).exitCode };
    },
    "a job": async ({ code, language }) => {
      const job = await sandbox().executeBackground(code, { language });
      const { exitCode, stdout } = await job.result();
      return { exitCode: exitCode ?? -1, stdout };
    },
  };

  const entries = Object.entries(programsFromFiles);
  // At once: each machine is started for one program, which takes long in containers.
  describe.concurrent.each(Object.entries(ways))("a program as %s", (way, run) => {
    const turn = Object.keys(ways).indexOf(way);
    const programs = entries.filter(
      ([, { filename }], index) =>
        (way !== "a job" || filename === undefined) &&
        (startsFast || index % 3 === turn || (filename !== undefined && turn === 0)),
    );
    test.each(programs)("%s", async (_, program) => {
      const { stdout, exitCode } = await run(program);
      expect({ stdout, exitCode }).toEqual({ stdout: program.stdout, exitCode: program.exitCode ?? 0 });
    });
  });
}
