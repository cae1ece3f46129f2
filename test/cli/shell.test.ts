import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";
import { CutProxy } from "./support/cut-proxy.js";
import { Tmux } from "./support/tmux.js";

const command = `${process.execPath} ${join(root, "packages/cli/dist/main.js")}`;
/**
 * A shell command that prints the exit code of the command before it, and whether the terminal is in its usual mode
 * again (whole lines, with echo).
 */
const told = 'echo "code=$? $(stty -a | grep -wo -- "-\\?icanon") $(stty -a | grep -wo -- "-\\?echo")"';
let line: CommandLine;
let terminal: Tmux | undefined;

beforeAll(async () => {
  line = await startCommandLine();
});
afterAll(() => line?.stop());
afterEach(async () => {
  await terminal?.end();
  terminal = undefined;
});

async function open(words: string, env = line.env): Promise<Tmux> {
  terminal = await Tmux.start(`${command} ${words}; ${told}`, env);
  return terminal;
}

async function seen(text: string | RegExp): Promise<void> {
  await expect.poll(() => terminal?.screen()).toMatch(text);
}

describe("cloud-sandbox sandbox shell", { timeout: 180_000, tags: ["tmux"] }, () => {
  test("has the terminal's size, Ctrl-C, full-screen programs and the exit code", {
    tags: ["vim-tiny"],
  }, async () => {
    const tmux = await open("sandbox shell");
    await seen(/\$$/);
    await tmux.type("stty size\r");
    await seen("24 80");
    await tmux.resize(100, 30);
    // The shell may notice the new size later, and then draws its prompt anew, over what was printed before: keep it from that.
    await tmux.type("until stty size | grep '30 100'; do sleep 0.1; done; read\r");
    await seen(/^30 100$/m);
    await tmux.press("Enter");
    await seen(/\$$/);
    // Until the program runs, the shell would get the signal.
    await tmux.type("sh -c 'echo runs; exec cat'\r");
    await seen(/^runs$/m);
    await tmux.press("C-c");
    // What is typed before the shell's next prompt is lost: the shell drops it when a program was interrupted.
    await seen(/\^C\n+.*\$$/);
    await tmux.type("echo after $?\r");
    await seen(/^after 130$/m);
    await tmux.type("clear; vi /workspace/note\r");
    await seen(/^~$/m);
    await tmux.type("ihello");
    await seen(/^hello$/m);
    await tmux.press("Escape");
    await tmux.type(":wq\r");
    await seen(/\$$/);
    await tmux.type("clear; rev note; exit 3\r");
    await seen(/^olleh$/m);
    await seen("code=3 icanon echo");
    expect(await line.output("sandbox", "list", "-q")).toBe("");
  });

  test("opens in a sandbox that is there, and leaves it there", async () => {
    const id = (await line.output("sandbox", "create", "-q")).trim();
    const tmux = await open(`sandbox shell ${id}`);
    await seen(/\$$/);
    await tmux.type("echo kept > file; exit\r");
    await seen("code=0 icanon echo");
    expect(await line.output("cat", `${id}:file`)).toBe("kept\n");
    await line.output("sandbox", "delete", id);
  });

  test("ends with a message when its sandbox ends, and restores the terminal", {
    tags: ["vim-tiny"],
  }, async () => {
    const id = (await line.output("sandbox", "create", "-q")).trim();
    const tmux = await open(`sandbox shell ${id}`);
    await seen(/\$$/);
    await tmux.type("vi\r");
    await seen(/^~$/m);
    await line.output("sandbox", "delete", id);
    await seen("code=125 icanon echo");
    expect(await tmux.screen()).toMatch(/^cloud-sandbox: .+/m);
  });

  test("outlives a lost connection: a full-screen program goes on, with what was typed meanwhile", {
    tags: ["vim-tiny"],
  }, async () => {
    const proxy = await CutProxy.start(line.env.CLOUD_SANDBOX_BASE_URL ?? "");
    onTestFinished(() => proxy.stop());
    const tmux = await open("sandbox shell", { ...line.env, CLOUD_SANDBOX_BASE_URL: proxy.url });
    await seen(/\$$/);
    await tmux.type("vi /workspace/note\r");
    await seen(/^~$/m);
    await tmux.type("ibefore");
    await seen(/^before$/m);
    proxy.cut();
    await seen("connection lost, trying again…");
    await tmux.type(" meanwhile");
    proxy.mend();
    await expect.poll(() => tmux.screen()).not.toContain("connection lost");
    await tmux.type(" after");
    await tmux.press("Escape");
    await tmux.type(":wq\r");
    await seen(/\$$/);
    proxy.cut();
    await seen("connection lost, trying again…");
    await tmux.type("clear; rev note; exit 3\r");
    proxy.mend();
    await seen(/^retfa elihwnaem erofeb$/m);
    await seen("code=3 icanon echo");
    expect(await line.output("sandbox", "list", "-q")).toBe("");
  });

  test("says that the sandbox is gone when it ended while the connection was lost", async () => {
    const proxy = await CutProxy.start(line.env.CLOUD_SANDBOX_BASE_URL ?? "");
    onTestFinished(() => proxy.stop());
    const id = (await line.output("sandbox", "create", "-q")).trim();
    await open(`sandbox shell ${id}`, { ...line.env, CLOUD_SANDBOX_BASE_URL: proxy.url });
    await seen(/\$$/);
    proxy.cut();
    await seen("connection lost, trying again…");
    await line.output("sandbox", "delete", id);
    proxy.mend();
    await seen("code=125 icanon echo");
    expect(await terminal?.screen()).toMatch(/^cloud-sandbox: .+/m);
  });

  test("restores the terminal and leaves no sandbox when a signal ends it", async () => {
    const script = `${command} sandbox shell & echo $! > ${line.directory}/pid; fg; ${told}`;
    terminal = await Tmux.start(`bash -mc '${script.replaceAll("'", "'\\''")}'`, line.env);
    await seen(/\$$/);
    process.kill(Number(await readFile(join(line.directory, "pid"), "utf8")), "SIGTERM");
    await seen("code=143 icanon echo");
    expect(await line.output("sandbox", "list", "-q")).toBe("");
  });
});

test("progress is shown on a terminal, and removed at the end", { tags: ["tmux"] }, async () => {
  const tmux = await open("sandbox create -q; true");
  await seen(/^\d\w+\ncode=0/);
  expect(await tmux.screen()).not.toContain("Creating");
});
