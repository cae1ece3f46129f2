import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";
import { ScreenRecording } from "./support/screen-recording.js";
import { Tmux } from "./support/tmux.js";

/** The page with the recordings, and the directory of its images. */
const page = join(root, "docs/guides/recordings.md");
const images = join(root, "docs/guides/recordings");
/** Whether to write the images anew. Otherwise the tests compare them with what is on the screen. */
const { RECORD } = process.env;

/** What a person does next in a scene: what they type, and what they then wait for. */
interface Step {
  /** Text that is typed, and a key that is pressed after it. */
  readonly type?: string;
  readonly press?: string;
  /** What is on the screen afterwards. The image shows the same. */
  readonly see: string | RegExp;
  /** Seconds for which the image shows it. */
  readonly for?: number;
}

/** Types a command, lets a reader see it, and runs it until its last line and the next prompt are on the screen. */
const command = (line: string, see: string | RegExp, seconds = 2.5): Step[] => [
  { type: line, see: line.slice(-20), for: 1.2 },
  { press: "Enter", see, for: seconds },
];
/** The next prompt after a line of output. */
const then = (line: string): RegExp => new RegExp(`^${line}\\n\\$$`, "m");

/** The prompt of a shell in a sandbox, whose name and version can be any. */
const insidePrompt = /^\S*[$#]$(?!\s*\S)/m;
const noSandboxes = /no sandboxes.*\n\$$/;

const scenes: Readonly<Record<string, { rows: number; steps: Step[] }>> = {
  run: {
    rows: 16,
    steps: [
      ...command("cloud-sandbox run --code 'print(6 * 7)'", then("42")),
      ...command("cat report.py", then('print\\("the year is", sys.argv\\[1\\]\\)')),
      ...command("cloud-sandbox run report.py --internet off -- 2024", then("the year is 2024")),
      ...command(
        "echo 'console.log([3, 1, 2].sort())' | cloud-sandbox run -l javascript",
        then("\\[ 1, 2, 3 \\]"),
      ),
      ...command("cloud-sandbox run -l bash -c 'cat /etc/shadow; exit 3'; echo $?", then("3"), 4),
    ],
  },
  interrupt: {
    rows: 14,
    steps: [
      ...command("cat work.py", then("time.sleep\\(3600\\)")),
      ...command("cloud-sandbox run work.py", /^step 1$/m, 0.8),
      { see: /^step 2$/m, for: 0.8 },
      { see: /^step 3$/m, for: 1 },
      { press: "C-c", see: then("(\\^C)?cloud-sandbox: interrupted\\."), for: 2 },
      ...command("echo $?", then("130")),
      ...command("cloud-sandbox sandbox list", noSandboxes, 4),
    ],
  },
  shell: {
    rows: 24,
    steps: [
      ...command("cloud-sandbox sandbox shell", insidePrompt, 2),
      { type: "vi note", see: /vi note$/, for: 1 },
      { press: "Enter", see: /^~$/m, for: 1 },
      { type: "iWritten with vi, in the sandbox.", see: "in the sandbox.", for: 1.5 },
      { press: "Escape", see: "in the sandbox." },
      { type: ":wq", see: /^:wq$/m, for: 1 },
      { press: "Enter", see: insidePrompt },
      ...command("cat note", /^Written with vi, in the sandbox\.\n.*[$#]$/m, 2),
      ...command("top", /PID USER.*\n(.*\n)*.*bash/, 4),
      { press: "q", see: insidePrompt, for: 1 },
      ...command("clear", /^\S*[$#]$/, 0.5),
      ...command("exit", /exit\n\$$/, 1.5),
      ...command("cloud-sandbox sandbox list", noSandboxes, 4),
    ],
  },
  "template-build": {
    rows: 20,
    steps: [
      ...command("cat Dockerfile", then("RUN python3 -m compileall .*")),
      ...command("cloud-sandbox template build reports", then("Template reports is active\\."), 4),
      ...command("id=$(cloud-sandbox sandbox create -q --template reports)", /reports\)\n\$$/, 1),
      ...command("cloud-sandbox sandbox exec $id 'echo $MODE; ls /workspace'", then("report.py"), 3),
      ...command("cloud-sandbox sandbox delete $id", /is deleted\.\n\$$/, 4),
    ],
  },
  "mcp-tools-execute": {
    rows: 20,
    steps: [
      ...command(
        `cloud-sandbox mcp server add words --command 'python3 /opt/words.py' --install-commands "$(cat install.sh)"`,
        /words.*\n\$$/,
      ),
      ...command("cloud-sandbox mcp tools list words", then("shout +text +.*")),
      ...command("cloud-sandbox mcp tools execute words shout --param text=hello", then("HELLO"), 4),
    ],
  },
};

let line: CommandLine;
let terminal: Tmux | undefined;

beforeAll(async () => {
  line = await startCommandLine();
  const here = (path: string): string => join(line.directory, path);
  mkdirSync(here("bin"));
  symlinkSync(join(root, "packages/cli/dist/main.js"), here("bin/cloud-sandbox"));
  writeFileSync(here("bashrc"), "PS1='$ '\n");
  writeFileSync(here("report.py"), 'import sys\nprint("the year is", sys.argv[1])\n');
  const work =
    'import time\nfor n in range(1, 4):\n    print("step", n); time.sleep(0.5)\ntime.sleep(3600)\n';
  writeFileSync(here("work.py"), work);
  const dockerfile = [
    "FROM base",
    "ENV MODE=fast",
    "COPY report.py /workspace/report.py",
    "RUN python3 -m compileall /workspace",
  ];
  writeFileSync(here("Dockerfile"), `${dockerfile.join("\n")}\n`);
  const program = readFileSync(join(root, "test/cli/support/words-server.py"), "utf8");
  writeFileSync(here("install.sh"), `cat > /opt/words.py <<'END'\n${program}\nEND\n`);
});
afterAll(() => line?.stop());
afterEach(async () => {
  await terminal?.end();
  terminal = undefined;
});

async function open(rows: number): Promise<Tmux> {
  const path = [join(line.directory, "bin"), dirname(process.execPath), process.env.PATH].join(":");
  const shell = `cd ${line.directory} && exec bash --rcfile bashrc -i`;
  terminal = await Tmux.start(shell, { ...line.env, PATH: path, HISTFILE: "" }, { rows });
  await expect.poll(() => terminal?.screen()).toBe("$");
  return terminal;
}

describe("the recordings of the page", { tags: ["tmux"] }, () => {
  test.for(Object.entries(scenes))("%s", { timeout: 120_000 }, async ([name, { rows, steps }], { skip }) => {
    const needed = name === "shell" ? ["vi", "top"] : [];
    const missing = needed.filter((program) => !existsSync(`/usr/bin/${program}`));
    skip(missing.length > 0, `${missing.join(", ")} is not installed, so sandboxes have none`);
    const tmux = await open(rows);
    const recording = new ScreenRecording(80, rows);
    for (const step of steps) {
      if (step.type !== undefined) await tmux.type(step.type);
      if (step.press !== undefined) await tmux.press(step.press);
      await expect.poll(() => tmux.screen()).toMatch(step.see);
      if (step.for !== undefined) await recording.add(tmux, step.for);
    }
    const svg = recording.svg(name);
    const file = join(images, `${name}.svg`);
    if (RECORD !== undefined) writeFileSync(file, svg);
    expect(lastScreen(readFileSync(file, "utf8")), "Record it anew: RECORD=1").toBe(lastScreen(svg));
    expect(readFileSync(page, "utf8")).toContain(`](recordings/${name}.svg)`);
    expect(await line.output("sandbox", "list", "-q")).toBe("");
  });
});

/** The text of the last screen, without what differs between machines: versions, ids, and the sign of root's prompt. */
function lastScreen(svg: string): string {
  const last = svg.slice(svg.lastIndexOf("<g "));
  const rows = new Map<string, string>();
  for (const [, row = "", text = ""] of last.matchAll(/<text x="\S+" y="(\S+)"[^>]*>([^<]*)</g))
    rows.set(row, (rows.get(row) ?? "") + text);
  return [...rows.values()]
    .join("\n")
    .replace(/\w*\d[\w.]*/g, "0")
    .replace(/&0;/g, "");
}
