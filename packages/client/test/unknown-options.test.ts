import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sandbox, SandboxClient } from "../src/index.js";
import { TestingService } from "../src/testing/index.js";

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

/** As JavaScript passes them. */
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
  ["executeOrDetach", () => sandbox.executeOrDetach("1", wrong({ detachAfter: 5 })), /"detachAfter"/],
])("%s refuses options that do not exist, before anything is sent", async (_, call, message) => {
  const before = requests;
  await expect(call()).rejects.toThrow(message);
  expect(requests).toBe(before);
});

test("an option that is undefined is none", async () => {
  expect(await sandbox.commands.run("true", wrong({ timeout: undefined }))).toMatchObject({ exitCode: 0 });
});
