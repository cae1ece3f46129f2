import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/index.js";
import { testClient } from "../support/clients.js";
import { type Case, everywhere, refused, wrong } from "../support/refused-options.js";
import { wireSandbox } from "../support/sandbox-service.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const running = (name: string, call: (options: never) => (sandbox: Sandbox) => unknown): Case<Sandbox>[] => [
  [`${name}, half a second`, call(wrong({ timeoutSeconds: 0.5 })), "timeoutSeconds"],
  [`${name}, a timeout of text`, call(wrong({ timeoutSeconds: "5" })), "timeoutSeconds"],
  [`${name}, variables that are a list`, call(wrong({ env: ["A=1"] })), "env"],
  [`${name}, a variable that is a number`, call(wrong({ env: { A: 1 } })), "env.A"],
  [`${name}, a directory without a name`, call(wrong({ workdir: "" })), "workdir"],
  [`${name}, a signal that is none`, call(wrong({ signal: {} })), "signal"],
];

const here = { x: 1, y: 1 };
const sandboxCases: Case<Sandbox>[] = [
  ["execute, no code", (sandbox) => sandbox.execute(wrong(undefined)), "code"],
  ["execute, no language", (sandbox) => sandbox.execute("1", { language: " " }), "language"],
  ["execute, no context", (sandbox) => sandbox.execute("1", { context: "" }), "context"],
  ["execute, a cache that is text", (sandbox) => sandbox.execute("1", { cache: wrong("yes") }), "cache"],
  ...running("execute", (options) => (sandbox) => sandbox.execute("1", options)),
  ["execute, an input that is a number", (sandbox) => sandbox.execute("1", { stdin: wrong(5) }), "stdin"],
  [
    "execute, a callback that is text",
    (sandbox) => sandbox.execute("1", { onDisplay: wrong("a") }),
    "onDisplay",
  ],
  [
    "execute, progress of no background execution",
    (sandbox) => sandbox.execute("1", { onProgress: () => undefined }),
    "onProgress",
  ],
  [
    "execute, a callback beside a cache",
    (sandbox) => sandbox.execute("1", { cache: true, onStdout: () => undefined }),
    "cache",
  ],
  [
    "execute, a callback beside patience",
    (sandbox) => sandbox.execute("1", { detachAfterSeconds: 5, onStderr: () => undefined }),
    "detachAfterSeconds",
  ],
  [
    "commands.run, an input beside patience",
    (sandbox) => sandbox.commands.run("cat", { detachAfterSeconds: 5, stdin: "a" }),
    "detachAfterSeconds",
  ],
  ...running("executeStream", (options) => (sandbox) => sandbox.executeStream("1", options).result()),
  ...running("executeBackground", (options) => (sandbox) => sandbox.executeBackground("1", options)),
  [
    "executeBackground, too long a name",
    (sandbox) => sandbox.executeBackground("1", { name: "x".repeat(201) }),
    "name",
  ],
  ...running(
    "executeAsync",
    (options) => (sandbox) => sandbox.executeAsync("1", "https://a.example", options),
  ),
  [
    "executeAsync, an address that is none",
    (sandbox) => sandbox.executeAsync("1", "a.example"),
    "callbackUrl",
  ],
  [
    "executeAsync, no secret",
    (sandbox) => sandbox.executeAsync("1", "https://a.example", { callbackSecret: "" }),
    "callbackSecret",
  ],
  [
    "executeAsync, a header that is a number",
    (sandbox) => sandbox.executeAsync("1", "https://a.example", { callbackHeaders: { a: wrong(1) } }),
    "callbackHeaders.a",
  ],
  [
    "execute, no patience",
    (sandbox) => sandbox.execute("1", { detachAfterSeconds: 0 }),
    "detachAfterSeconds",
  ],
  ["commands.run, nothing", (sandbox) => sandbox.commands.run(""), "command"],
  [
    "commands.run, a word that is a number",
    (sandbox) => sandbox.commands.run(["sleep", wrong(5)]),
    "command",
  ],
  ["commands.run, what is neither", (sandbox) => sandbox.commands.run(wrong(7)), "command"],
  ...running("commands.run", (options) => (sandbox) => sandbox.commands.run("ls", options)),
  ...running("commands.stream", (options) => (sandbox) => sandbox.commands.stream("ls", options).result()),
  [
    "commands.stream, an input that is a number",
    (sandbox) => sandbox.commands.stream("ls", { stdin: wrong(5) }).result(),
    "stdin",
  ],
  ...running(
    "commands.runBackground",
    (options) => (sandbox) => sandbox.commands.runBackground("ls", options),
  ),
  ...(["readText", "readBytes", "list", "stat", "exists", "remove", "mkdir"] as const).flatMap(
    (method): Case<Sandbox>[] => [
      [`files.${method}, no path`, (sandbox) => sandbox.files[method](""), "path"],
      [`files.${method}, a path that is a number`, (sandbox) => sandbox.files[method](wrong(7)), "path"],
      ...everywhere(`files.${method}`, (options) => (sandbox) => sandbox.files[method]("/tmp/a", options)),
    ],
  ),
  ["files.readBytes, no bytes", (sandbox) => sandbox.files.readBytes("/tmp/a", { maxBytes: 0 }), "maxBytes"],
  [
    "files.readBytes, a limit that is text",
    (sandbox) => sandbox.files.readBytes("/tmp/a", { maxBytes: wrong("9") }),
    "maxBytes",
  ],
  ["files.write, no path", (sandbox) => sandbox.files.write("", "text"), "path"],
  [
    "files.write, a content that is a number",
    (sandbox) => sandbox.files.write("/tmp/a", wrong(7)),
    "content",
  ],
  [
    "files.write, a mode that is a number",
    (sandbox) => sandbox.files.write("/tmp/a", "", { mode: wrong(644) }),
    "mode",
  ],
  [
    "files.write, a mode that is none",
    (sandbox) => sandbox.files.write("/tmp/a", "", { mode: "rwx" }),
    "mode",
  ],
  [
    "files.write, a choice that is text",
    (sandbox) => sandbox.files.write("/tmp/a", "", { overwrite: wrong("no") }),
    "overwrite",
  ],
  ["files.rename, no new path", (sandbox) => sandbox.files.rename("/tmp/a", ""), "newPath"],
  [
    "files.rename, a choice that is text",
    (sandbox) => sandbox.files.rename("/tmp/a", "/tmp/b", { overwrite: wrong("no") }),
    "overwrite",
  ],
  ["files.watch, no path", (sandbox) => sandbox.files.watch("").ready(), "path"],
  [
    "files.watch, a signal that is none",
    (sandbox) => sandbox.files.watch("/tmp", { signal: wrong(1) }).ready(),
    "signal",
  ],
  ["files.walk, no path", (sandbox) => sandbox.files.walk("").next(), "path"],
  ["files.upload, no local path", (sandbox) => sandbox.files.upload("", "/tmp/a"), "localPath"],
  ["files.upload, no path", (sandbox) => sandbox.files.upload("/etc/hostname", ""), "path"],
  [
    "files.upload, a progress that is text",
    (sandbox) => sandbox.files.upload("/etc/hostname", "/tmp/a", { onProgress: wrong("log") }),
    "onProgress",
  ],
  ["files.download, no local path", (sandbox) => sandbox.files.download("/tmp/a", ""), "localPath"],
  [
    "files.uploadDirectory, a filter that is text",
    (sandbox) => sandbox.files.uploadDirectory("/tmp", "/tmp/a", { exclude: wrong("*.env") }),
    "exclude",
  ],
  [
    "files.downloadDirectory, no bytes",
    (sandbox) => sandbox.files.downloadDirectory("/tmp/a", "/tmp", { maxBytes: 0 }),
    "maxBytes",
  ],
  ["env.set, a name that is none", (sandbox) => sandbox.env.set("A-B", "1"), "A-B"],
  ["env.set, a value that is a number", (sandbox) => sandbox.env.set("A", wrong(1)), "variables.A"],
  ["env.merge, what is no object", (sandbox) => sandbox.env.merge(wrong("A=1")), "variables"],
  ["env.replace, a list", (sandbox) => sandbox.env.replace(wrong(["A=1"])), "variables"],
  ["env.unset, a name that is none", (sandbox) => sandbox.env.unset("A=1"), "A=1"],
  ["processes.get, no id", (sandbox) => sandbox.processes.get(""), "id"],
  ["processes.kill, no id", (sandbox) => sandbox.processes.kill(""), "id"],
  [
    "an execution's output, from before it",
    (sandbox) => sandbox.processes.get("proc_1").output({ stdoutOffset: -1 }),
    "stdoutOffset",
  ],
  [
    "an execution's waitAtMost, no time",
    (sandbox) => sandbox.processes.get("proc_1").waitAtMost(Number.NaN),
    "seconds",
  ],
  [
    "an execution's waitAtMost, a progress that is text",
    (sandbox) => sandbox.processes.get("proc_1").waitAtMost(1, { onProgress: wrong("log") }),
    "onProgress",
  ],
  ["terminal.open, no columns", (sandbox) => sandbox.terminal.open({ cols: 0 }), "cols"],
  ["terminal.open, too many rows", (sandbox) => sandbox.terminal.open({ rows: 1001 }), "rows"],
  ["terminal.open, no shell", (sandbox) => sandbox.terminal.open({ shell: "" }), "shell"],
  ["ports.previewUrl, port 0", (sandbox) => sandbox.ports.previewUrl(0), "port"],
  [
    "ports.previewUrl, a form that is none",
    (sandbox) => sandbox.ports.previewUrl(80, { form: wrong("query") }),
    "form",
  ],
  ["ports.waitForPort, no port", (sandbox) => sandbox.ports.waitForPort(70_000), "port"],
  [
    "ports.waitForPort, no time",
    (sandbox) => sandbox.ports.waitForPort(80, { timeoutSeconds: 0 }),
    "timeoutSeconds",
  ],
  ["setTimeout, too long", (sandbox) => sandbox.setTimeout(86_401), "seconds"],
  ["keepAlive, too short", (sandbox) => sandbox.keepAlive({ seconds: 5 }), "seconds"],
  ["keepAlive, no end", (sandbox) => sandbox.keepAlive({ maxSeconds: 0 }), "maxSeconds"],
  ["onExpiring, nothing to call", (sandbox) => sandbox.onExpiring(wrong("log")), "function"],
  [
    "onExpiring, before it was",
    (sandbox) => sandbox.onExpiring(() => undefined, { leadSeconds: -1 }),
    "leadSeconds",
  ],
  [
    "desktop.screenshot, a region without a size",
    (sandbox) => sandbox.desktop.screenshot(wrong(here)),
    "region.width",
  ],
  [
    "desktop.setResolution, too small",
    (sandbox) => sandbox.desktop.setResolution({ width: 100, height: 200 }),
    "width",
  ],
  ["desktop.setClipboard, a number", (sandbox) => sandbox.desktop.setClipboard(wrong(7)), "text"],
  ["mouse.click, no place", (sandbox) => sandbox.desktop.mouse.click(wrong({ x: 1 })), "point.y"],
  [
    "mouse.click, a button that is none",
    (sandbox) => sandbox.desktop.mouse.click(here, { button: wrong("top") }),
    "button",
  ],
  ["mouse.click, too often", (sandbox) => sandbox.desktop.mouse.click(here, { clicks: 11 }), "clicks"],
  ["mouse.move, half a pixel", (sandbox) => sandbox.desktop.mouse.move({ x: 0.5, y: 0 }), "point.x"],
  ["mouse.drag, to nowhere", (sandbox) => sandbox.desktop.mouse.drag(here, wrong({})), "to.x"],
  [
    "mouse.dragAndDrop, from nowhere",
    (sandbox) => sandbox.desktop.mouse.dragAndDrop(wrong({}), here),
    "from.x",
  ],
  ["mouse.scroll, not at all", (sandbox) => sandbox.desktop.mouse.scroll(0), "amount"],
  [
    "mouse.scroll, nowhere",
    (sandbox) => sandbox.desktop.mouse.scroll(1, { direction: wrong("in") }),
    "direction",
  ],
  ["keyboard.type, a number", (sandbox) => sandbox.desktop.keyboard.type(wrong(7)), "text"],
  [
    "keyboard.type, too slowly",
    (sandbox) => sandbox.desktop.keyboard.type("a", { delayMs: 1001 }),
    "delayMs",
  ],
  ["keyboard.press, nothing", (sandbox) => sandbox.desktop.keyboard.press(""), "key"],
  ["keyboard.combination, of nothing", (sandbox) => sandbox.desktop.keyboard.combination([]), "keys"],
  ["keyboard.hotkey, with nothing", (sandbox) => sandbox.desktop.keyboard.hotkey([], "a"), "modifiers"],
  ["windows.focus, no window", (sandbox) => sandbox.desktop.windows.focus(""), "id"],
  [
    "windows.resize, to nothing",
    (sandbox) => sandbox.desktop.windows.resize("1", { width: 0, height: 1 }),
    "width",
  ],
  ["recording.start, too fast", (sandbox) => sandbox.desktop.recording.start({ fps: 61 }), "fps"],
  [
    "recording.start, no format",
    (sandbox) => sandbox.desktop.recording.start({ format: wrong("") }),
    "format",
  ],
  [
    "vnc.start, for no time",
    (sandbox) => sandbox.desktop.vnc.start({ expiresInSeconds: 1 }),
    "expiresInSeconds",
  ],
  [
    "desktop.browser, for no time",
    (sandbox) => sandbox.desktop.browser({ expiresInSeconds: 1 }),
    "expiresInSeconds",
  ],
  [
    "desktop.screenshot, too small",
    (sandbox) => sandbox.desktop.screenshot(undefined, { maxEdge: 1 }),
    "maxEdge",
  ],
  ["text.read, no region", (sandbox) => sandbox.desktop.text.read(wrong({})), "region.x"],
  ["text.find, no text", (sandbox) => sandbox.desktop.text.find(""), "text"],
  ["text.waitFor, no time", (sandbox) => sandbox.desktop.text.waitFor("a", { timeoutSeconds: 0 }), "timeout"],
  [
    "vnc.start, a display before the first",
    (sandbox) => sandbox.desktop.vnc.start({ display: -1 }),
    "display",
  ],
  ...everywhere("metrics.snapshot", (options) => (sandbox) => sandbox.metrics.snapshot(options)),
  ...everywhere("metrics.stream", (options) => (sandbox) => sandbox.metrics.stream(options).next()),
  ...everywhere("system.info", (options) => (sandbox) => sandbox.system.info(options)),
  ...everywhere("pause", (options) => (sandbox) => sandbox.pause(options)),
  ...everywhere("refresh", (options) => (sandbox) => sandbox.refresh(options)),
];

describe("an option that no server accepts is refused by its name, before anything is sent", () => {
  test.each(sandboxCases)("%s", async (_, call, names) => {
    const server = await scriptedServer((_, response) => json(response, 200, wireSandbox(server.url)));
    const sandbox = await testClient(server.url).sandboxes.get("abc");
    await refused(() => call(sandbox), names);
    expect(server.calls()).toEqual(["GET /v1/sandboxes/abc"]);
  });
});
