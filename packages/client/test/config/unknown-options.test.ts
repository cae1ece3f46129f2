import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Commands,
  type Contexts,
  type Desktop,
  type EnvironmentVariables,
  type Execution,
  type Files,
  type Keyboard,
  type Metrics,
  type Mouse,
  type Ports,
  type Processes,
  type PythonPackages,
  type Sandbox,
  SandboxClient,
  type Sandboxes,
  type ScreenRecorder,
  type ScreenText,
  type System,
  Template,
  type Templates,
  type Terminals,
  type VncServer,
  verifyWebhook,
  type Webhooks,
  type Windows,
  webhookHandler,
} from "../../src/index.js";
import { openTelemetry } from "../../src/opentelemetry.js";
import { TestingService } from "../../src/testing/index.js";

let client: SandboxClient;
let sandbox: Sandbox;
let requests = 0;
beforeAll(async () => {
  const service = new TestingService({ programs: { true: "" } });
  client = new SandboxClient({
    ...service.clientOptions,
    hooks: { onRequest: () => requests++ },
  });
  sandbox = await client.sandboxes.create();
});
afterAll(() => client.close());

/** Makes a client with options that the compiler would refuse, as a program in JavaScript can. */
const made = (options: object) => () => new SandboxClient(options);

test.each<[string, () => unknown, RegExp]>([
  ["a client's address", made({ apiKey: "k", baseURL: "https://a.example" }), /"baseURL".*mean "baseUrl"/],
  ["a client's key", made({ api_key: "k" }), /"api_key".*mean "apiKey"/],
  ["a time limit", made({ apiKey: "k", timeouts: { request: 1 } }), /"request".*mean "requestSeconds"/],
  [
    "a hook",
    made({ apiKey: "k", hooks: { onResponded: () => undefined } }),
    /"onResponded".*mean "onResponse"/,
  ],
  ["a retry", made({ apiKey: "k", retry: { maxAttempts: 1 } }), /"maxAttempts".*mean "attempts"/],
  ["a backend's option", made({ local: { size: 1, pools: 2 } }), /"size".*Its options are pool, limits/],
  ["a limit of a backend", made({ local: { limits: { memory: 1 } } }), /"memory".*mean "memoryMb"/],
  ["another library's word for the address", made({ apiKey: "k", endpoint: "" }), /mean "baseUrl"\?$/],
  [
    "a key in place of options",
    () => new (SandboxClient as never as new (key: string) => unknown)("k"),
    /Write \{ apiKey: value \}/,
  ],
  ["what is like no option", made({ apiKey: "k", qqq: 1 }), /"qqq".*Its options are backend, local, apiKey/],
])("%s that does not exist is refused when the client is made", (_, make, message) => {
  expect(make).toThrow(expect.objectContaining({ name: "ValidationError", code: "INVALID_ARGUMENT" }));
  expect(make).toThrow(message);
});

const wrong = (options: object) => options as never;

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["execute", () => sandbox.execute("1", wrong({ timeout: 5 })), /"timeout".*mean "timeoutSeconds"/],
  ["executeStream", async () => sandbox.executeStream("1", wrong({ lang: "go" })), /mean "language"/],
  ["executeBackground", () => sandbox.executeBackground("1", wrong({ timeOut: 5 })), /"timeoutSeconds"/],
  [
    "executeAsync",
    () => sandbox.executeAsync("1", "https://a.example", wrong({ secret: "s" })),
    /callbackSecret/,
  ],
  ["run", () => sandbox.commands.run("ls", wrong({ workDir: "/" })), /"workDir".*mean "workdir"/],
  ["stream", async () => sandbox.commands.stream("ls", wrong({ stdIn: "" })), /mean "stdin"/],
  ["runBackground", () => sandbox.commands.runBackground("ls", wrong({ names: "a" })), /mean "name"/],
  ["create", () => client.sandboxes.create(wrong({ timeout_seconds: 5 })), /mean "timeoutSeconds"/],
  ["a limit", () => client.sandboxes.create(wrong({ limits: { memory: 512 } })), /mean "memoryMb"/],
  [
    "getOrCreate",
    () => client.sandboxes.getOrCreate("a", wrong({ internet: false })),
    /mean "internetAccess"/,
  ],
  [
    "list",
    async () =>
      client.sandboxes
        .list(wrong({ state: "running" }))
        .pages()
        .next(),
    /mean "status"/,
  ],
  ["connect", () => client.sandboxes.connect(sandbox.id, wrong({ started: true })), /mean "start"/],
  ["executeIsolated", () => client.executeIsolated("1", wrong({ timeout: 5 })), /mean "timeoutSeconds"/],
  ["execute", () => sandbox.execute("1", wrong({ detachAfter: 5 })), /"detachAfter"/],
])("%s refuses options that do not exist, before anything is sent", async (_, call, message) => {
  const before = requests;
  await expect(call()).rejects.toThrow(message);
  expect(requests).toBe(before);
});

test.each<[string, object, RegExp]>([
  ["run", { cwd: "/" }, /mean "workdir"\?/],
  ["run", { working_dir: "/" }, /mean "workdir"\?/],
  ["run", { folder: "/" }, /mean "workdir"\?/],
  ["run", { timeoutMs: 5 }, /mean "timeoutSeconds", in seconds\?/],
  ["run", { timeout: 5 }, /mean "timeoutSeconds", in seconds\?/],
  ["run", { requestTimeoutMs: 5 }, /mean "requestTimeoutSeconds", in seconds\?/],
  ["run", { envs: {} }, /mean "env"\?/],
  ["run", { environment: {} }, /mean "env"\?/],
  ["execute", { runtime: "python" }, /mean "language"\?/],
  ["execute", { sessionId: "a" }, /mean "context"\?/],
  ["create", { runtime: "python" }, /mean "template"\?/],
  ["create", { image: "python" }, /mean "template"\?/],
  ["create", { ttl: 5 }, /mean "timeoutSeconds"\?/],
  ["create", { timeout: 5 }, /mean "timeoutSeconds", in seconds\?/],
  ["create", { timeoutMs: 5 }, /mean "timeoutSeconds", in seconds\?/],
  ["create", { memory: 5 }, /mean "limits"\?/],
  ["create", { allowInternetAccess: false }, /mean "internetAccess"\?/],
  ["create", { labels: {} }, /mean "metadata"\?/],
  ["create", { volumes: {} }, /mean "mounts"\?/],
  ["create", { toString: "a" }, /has no option "toString"/],
])("%s says what other libraries' words are called here: %j", async (name, options, message) => {
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    run: () => sandbox.commands.run("ls", wrong(options)),
    execute: () => sandbox.execute("1", wrong(options)),
    create: () => client.sandboxes.create(wrong(options)),
  };
  await expect(calls[name]?.()).rejects.toThrow(message);
});

/** What a caller without a compiler may have left out. */
const none = undefined as never;

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['create("python")', () => client.sandboxes.create("python" as never), /Write \{ template: value \}/],
  ["getOrCreate({ name })", () => client.sandboxes.getOrCreate({ name: "a" } as never), /name must be text/],
  ["get({ id })", () => client.sandboxes.get({ id: "a" } as never), /id of a sandbox must be text.*object/],
  ["execute({ code })", () => sandbox.execute({ code: "1" } as never), /Write execute\(code, options\)/],
  ['execute(code, "python")', () => sandbox.execute("1", "python" as never), /Write \{ language: value \}/],
  [
    'executeIsolated(code, "go")',
    () => client.executeIsolated("1", "go" as never),
    /Write \{ language: value \}/,
  ],
  ['run("ls", ["-l"])', () => sandbox.commands.run("ls", ["-l"] as never), /Write \{ workdir: value \}/],
  ["env.set({ A: value })", () => sandbox.env.set({ A: "1" } as never, undefined as never), /merge\(\{ NAME/],
  ['env.merge("A", value)', () => sandbox.env.merge("A" as never, "1" as never), /Write \{ NAME: value \}/],
  ['install("numpy")', () => sandbox.pythonPackages.install("numpy" as never), /must list packages/],
  ["install([])", () => sandbox.pythonPackages.install([]), /must list packages/],
  ["update()", () => sandbox.update(none), /options of update must be an object\. Write/],
  ["update(id)", () => client.sandboxes.update("a", none), /options of update must be an object/],
  ["list(null)", () => client.sandboxes.list(null as never).all(), /options of list must be an object/],
  ["egress.set()", () => sandbox.egress.set(none), /options of egress.set must be an object/],
  ["egress.decide()", () => sandbox.egress.decide(none), /options of egress.decide must be an object/],
  ["env.merge()", () => sandbox.env.merge(none), /variables must be an object of strings/],
  ["env.replace()", () => sandbox.env.replace(none), /variables must be an object of strings/],
  ["files.writeMany()", () => sandbox.files.writeMany(none), /must be a list of \{ path, content \}/],
  ["files.writeMany([null])", () => sandbox.files.writeMany([null] as never), /path must be text/],
  ["files.watch(path, null)", () => sandbox.files.watch("/", null as never).ready(), /must be an object/],
  ["templates.forImage()", () => client.templates.forImage(none), /image must be text/],
  ['templates.forImage("")', () => client.templates.forImage(""), /image must be text, not empty/],
  ["executeIsolated(code, null)", () => client.executeIsolated("1", null as never), /must be an object/],
  ['env.unset(["A"])', () => sandbox.env.unset(["A"] as never), /must be text.*set\(name, value\)/],
])("%s is refused with what to write, before anything is sent", async (_, call, message) => {
  const before = requests;
  await expect(call()).rejects.toThrow(message);
  expect(requests).toBe(before);
});

/**
 * Whether the last parameter of a method is an object whose fields are all optional, which is how options are
 * recognised.
 */
type TakesOptions<Method> = Method extends (...args: infer Args) => unknown
  ? Required<Args> extends [...unknown[], infer Last]
    ? NonNullable<Last> extends (...args: never) => unknown
      ? false
      : string extends keyof NonNullable<Last>
        ? false
        : Record<never, never> extends NonNullable<Last>
          ? true
          : false
    : false
  : false;

/** One call for each method of a class that takes options. The compiler reports a method that is missing. */
type Calls<Resource> = {
  [Name in keyof Resource as TakesOptions<Resource[Name]> extends true ? Name : never]: (
    resource: Resource,
    options: never,
  ) => unknown;
};

/** Adds the name of the class to each call: `["files.list", call]`. */
function callsOf<Resource>(
  name: string,
  find: () => Resource,
  calls: Calls<Resource>,
): [string, (options: never) => unknown][] {
  return Object.entries<(resource: Resource, options: never) => unknown>(calls).map(([method, call]) => [
    `${name}.${method}`,
    (options) => call(find(), options),
  ]);
}

const point = { x: 1, y: 1 };
const region = { ...point, width: 1, height: 1 };
const [secret, template] = ["a secret", Template.from("base")];

const everyCall = [
  ...callsOf<SandboxClient>("client", () => client, {
    close: (it, options) => it.close(options),
    events: (it, options) => it.events(options).next(),
    executeIsolated: (it, options) => it.executeIsolated("1", options),
    executeIsolatedStream: (it, options) => it.executeIsolatedStream("1", options).result(),
    executeIsolatedMany: (it, options) => it.executeIsolatedMany([], options).next(),
    health: (it, options) => it.health(options),
  }),
  ...callsOf<Sandboxes>("sandboxes", () => client.sandboxes, {
    connect: (it, options) => it.connect(sandbox.id, options),
    create: (it, options) => it.create(options),
    delete: (it, options) => it.delete(sandbox.id, options),
    fork: (it, options) => it.fork(sandbox.id, options),
    get: (it, options) => it.get(sandbox.id, options),
    getOrCreate: (it, options) => it.getOrCreate("a", options),
    list: (it, options) => it.list(options),
    pause: (it, options) => it.pause(sandbox.id, options),
    refreshToken: (it, options) => it.refreshToken(sandbox.id, options),
    resume: (it, options) => it.resume(sandbox.id, options),
    setTimeout: (it, options) => it.setTimeout(sandbox.id, 60, options),
    start: (it, options) => it.start(sandbox.id, options),
    stop: (it, options) => it.stop(sandbox.id, options),
    update: (it, options) => it.update(sandbox.id, options),
  }),
  ...callsOf<Sandbox>("sandbox", () => sandbox, {
    apply: (it, options) => it.apply(options),
    changes: (it, options) => it.changes(options),
    delete: (it, options) => it.delete(options),
    diff: (it, options) => it.diff("/repo/a", options),
    execute: (it, options) => it.execute("1", options),
    executeAsync: (it, options) => it.executeAsync("1", "https://a.example", options),
    executeBackground: (it, options) => it.executeBackground("1", options),
    executeStream: (it, options) => it.executeStream("1", options),
    fork: (it, options) => it.fork(options),
    keepAlive: (it, options) => it.keepAlive(options),
    onExpiring: (it, options) => it.onExpiring(() => undefined, options),
    pause: (it, options) => it.pause(options),
    refresh: (it, options) => it.refresh(options),
    refreshToken: (it, options) => it.refreshToken(options),
    restore: (it, options) => it.restore("snap_1", options),
    resume: (it, options) => it.resume(options),
    setTimeout: (it, options) => it.setTimeout(60, options),
    snapshot: (it, options) => it.snapshot(options),
    start: (it, options) => it.start(options),
    stop: (it, options) => it.stop(options),
    update: (it, options) => it.update(options),
  }),
  ...callsOf<Commands>("commands", () => sandbox.commands, {
    run: (it, options) => it.run("ls", options),
    runBackground: (it, options) => it.runBackground("ls", options),
    stream: (it, options) => it.stream("ls", options),
  }),
  ...callsOf<Processes>("processes", () => sandbox.processes, {
    kill: (it, options) => it.kill("proc_1", options),
    list: (it, options) => it.list(options),
  }),
  ...callsOf<Execution>("execution", () => sandbox.processes.get("proc_1"), {
    follow: (it, options) => it.follow(options),
    kill: (it, options) => it.kill(options),
    output: (it, options) => it.output(options),
    result: (it, options) => it.result(options),
    status: (it, options) => it.status(options),
    wait: (it, options) => it.wait(options),
    waitAtMost: (it, options) => it.waitAtMost(1, options),
  }),
  ...callsOf<Files>("files", () => sandbox.files, {
    downloadUrl: (it, options) => it.downloadUrl("a", options),
    uploadUrl: (it, options) => it.uploadUrl("a", options),
    download: (it, options) => it.download("a", "/tmp/a", options),
    downloadDirectory: (it, options) => it.downloadDirectory("a", "/tmp/a", options),
    exists: (it, options) => it.exists("a", options),
    list: (it, options) => it.list("a", options),
    mkdir: (it, options) => it.mkdir("a", options),
    readBytes: (it, options) => it.readBytes("a", options),
    readText: (it, options) => it.readText("a", options),
    remove: (it, options) => it.remove("a", options),
    rename: (it, options) => it.rename("a", "b", options),
    stat: (it, options) => it.stat("a", options),
    upload: (it, options) => it.upload("/tmp/a", "a", options),
    uploadDirectory: (it, options) => it.uploadDirectory("/tmp/a", "a", options),
    walk: (it, options) => it.walk("a", options),
    watch: (it, options) => it.watch("a", options),
    write: (it, options) => it.write("a", "text", options),
    writeMany: (it, options) => it.writeMany([{ path: "a", content: "text" }], options),
  }),
  ...callsOf<EnvironmentVariables>("env", () => sandbox.env, {
    clear: (it, options) => it.clear(options),
    effective: (it, options) => it.effective(options),
    get: (it, options) => it.get(options),
    merge: (it, options) => it.merge({ A: "1" }, options),
    names: (it, options) => it.names(options),
    replace: (it, options) => it.replace({ A: "1" }, options),
    set: (it, options) => it.set("A", "1", options),
    unset: (it, options) => it.unset("A", options),
  }),
  ...callsOf<PythonPackages>("pythonPackages", () => sandbox.pythonPackages, {
    install: (it, options) => it.install(["numpy"], options),
  }),
  ...callsOf<Terminals>("terminal", () => sandbox.terminal, { open: (it, options) => it.open(options) }),
  ...callsOf<Webhooks>("webhooks", () => client.webhooks, {
    list: (it, options) => it.list(options),
    subscribe: (it, options) => it.subscribe("https://a.test", options),
    unsubscribe: (it, options) => it.unsubscribe("a", options),
  }),
  ...callsOf<Ports>("ports", () => sandbox.ports, {
    forward: (it, options) => it.forward(80, options),
    previewUrl: (it, options) => it.previewUrl(80, options),
    revoke: (it, options) => it.revoke(options),
    waitForPort: (it, options) => it.waitForPort(80, options),
  }),
  ...callsOf<Metrics>("metrics", () => sandbox.metrics, {
    prometheus: (it, options) => it.prometheus(options),
    snapshot: (it, options) => it.snapshot(options),
    stream: (it, options) => it.stream(options),
  }),
  ...callsOf<System>("system", () => sandbox.system, {
    cacheStatistics: (it, options) => it.cacheStatistics(options),
    clearCache: (it, options) => it.clearCache(options),
    health: (it, options) => it.health(options),
    info: (it, options) => it.info(options),
    machine: (it, options) => it.machine(options),
    processes: (it, options) => it.processes(options),
  }),
  ...callsOf<Contexts>("contexts", () => sandbox.contexts, {
    create: (it, options) => it.create("a", options),
    delete: (it, options) => it.delete("a", options),
    list: (it, options) => it.list(options),
    restart: (it, options) => it.restart("a", options),
  }),
  ...callsOf<Desktop>("desktop", () => sandbox.desktop, {
    browser: (it, options) => it.browser(options),
    clipboard: (it, options) => it.clipboard(options),
    clipboardHistory: (it, options) => it.clipboardHistory(options),
    display: (it, options) => it.display(options),
    logs: (it, options) => it.logs(options),
    processes: (it, options) => it.processes(options),
    resolutions: (it, options) => it.resolutions(options),
    screenshot: (it, options) => it.screenshot(region, options),
    setClipboard: (it, options) => it.setClipboard("text", options),
    setResolution: (it, options) => it.setResolution({ width: 800, height: 600 }, options),
  }),
  ...callsOf<Keyboard>("keyboard", () => sandbox.desktop.keyboard, {
    combination: (it, options) => it.combination(["ctrl", "c"], options),
    hotkey: (it, options) => it.hotkey(["ctrl"], "c", options),
    press: (it, options) => it.press("c", options),
    type: (it, options) => it.type("text", options),
  }),
  ...callsOf<Mouse>("mouse", () => sandbox.desktop.mouse, {
    click: (it, options) => it.click(point, options),
    drag: (it, options) => it.drag(point, point, options),
    dragAndDrop: (it, options) => it.dragAndDrop(point, point, options),
    move: (it, options) => it.move(point, options),
    scroll: (it, options) => it.scroll(1, options),
  }),
  ...callsOf<ScreenRecorder>("recording", () => sandbox.desktop.recording, {
    download: (it, options) => it.download("1", options),
    start: (it, options) => it.start(options),
    status: (it, options) => it.status("1", options),
    stop: (it, options) => it.stop("1", options),
  }),
  ...callsOf<ScreenText>("text", () => sandbox.desktop.text, {
    bounds: (it, options) => it.bounds("text", options),
    find: (it, options) => it.find("text", options),
    read: (it, options) => it.read(region, options),
    waitFor: (it, options) => it.waitFor("text", options),
  }),
  ...callsOf<VncServer>("vnc", () => sandbox.desktop.vnc, {
    start: (it, options) => it.start(options),
    status: (it, options) => it.status(options),
    stop: (it, options) => it.stop(options),
  }),
  ...callsOf<Windows>("windows", () => sandbox.desktop.windows, {
    capture: (it, options) => it.capture("1", options),
    close: (it, options) => it.close("1", options),
    focus: (it, options) => it.focus("1", options),
    list: (it, options) => it.list(options),
    minimize: (it, options) => it.minimize("1", options),
    resize: (it, options) => it.resize("1", { width: 1, height: 1 }, options),
  }),
  ...callsOf<Templates>("templates", () => client.templates, {
    delete: (it, options) => it.delete("base", options),
    forImage: (it, options) => it.forImage("python:3", options),
    get: (it, options) => it.get("base", options),
    import: (it, options) => it.import(new Uint8Array(), options),
    list: (it, options) => it.list(options),
  }),
  ...callsOf<Template>("template", () => template, {
    copy: (it, options) => it.copy("a", "b", options),
    run: (it, options) => it.run("ls", options),
    startCommand: (it, options) => it.startCommand("ls", options),
  }),
];

/** Calls with options that have required fields, and functions that belong to no class. */
const otherCalls: [string, (options: object) => unknown][] = [
  ["templates.build", (options) => client.templates.build(template, { name: "a", ...options })],
  ["registry", (registry) => client.templates.build(template, { name: "a", registry })],
  ["verifyWebhook", (options) => verifyWebhook("{}", {}, secret, options)],
  ["webhookHandler", (options) => webhookHandler({ secret, onReport: () => undefined, ...options })],
  ["openTelemetry", (options) => openTelemetry(options)],
  ["TestingService", (options) => new TestingService(options)],
];

/** Makes a call. If it returns an iterable, also asks for the first item, because nothing happens before that. */
async function used(call: () => unknown): Promise<void> {
  const value = await call();
  if (typeof value === "object" && value !== null && Symbol.asyncIterator in value)
    for await (const _ of value as AsyncIterable<unknown>) return;
}

test.each<[string, (options: never) => unknown]>([...everyCall, ...otherCalls])(
  "%s refuses an unknown option, before anything is sent",
  async (_, call) => {
    const before = requests;
    const refusal = used(() => call(wrong({ noOption: 1 })));
    await expect(refusal).rejects.toThrow(/has no option "noOption"/);
    expect(requests).toBe(before);
  },
);

test.each<[string, () => unknown, RegExp]>([
  [
    "files.write",
    () => sandbox.files.write("a", "", wrong({ permissions: "0600" })),
    /Its options are signal/,
  ],
  [
    "files.readText",
    () => sandbox.files.readText("a", wrong({ timeoutSeconds: 1 })),
    /"requestTimeoutSeconds"/,
  ],
  ["files.readBytes", () => sandbox.files.readBytes("a", wrong({ maxByte: 1 })), /mean "maxBytes"/],
  ["keyboard.type", () => sandbox.desktop.keyboard.type("a", wrong({ delay: 1 })), /mean "delayMs"/],
  ["waitForPort", () => sandbox.ports.waitForPort(80, wrong({ timeout: 1 })), /mean "timeoutSeconds"/],
  ["a readiness check", () => template.startCommand("a", wrong({ ports: 80 })), /mean "port"/],
  ["templates.build", () => client.templates.build(template, wrong({ memory: 1 })), /mean "memoryMb"/],
])(
  "the refusal of an unknown option of %s names the one that was meant, or all",
  async (_, call, message) => {
    await expect(used(call)).rejects.toThrow(message);
  },
);

test("an unknown option with the value undefined is allowed", async () => {
  expect(await sandbox.commands.run("true", wrong({ timeout: undefined }))).toMatchObject({ exitCode: 0 });
});
