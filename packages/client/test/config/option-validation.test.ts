import { describe, test } from "vitest";
import { SandboxClient, Template, verifyWebhook, webhookHandler } from "../../src/index.js";
import { openTelemetry } from "../../src/opentelemetry.js";
import { apiKey } from "../support/clients.js";
import { type Case, refused, wrong } from "../support/refused-options.js";

const freeCases: Case<undefined>[] = [
  ["a client, a fetch that is text", () => client({ fetch: wrong("undici") }), "fetch"],
  ["a client, a WebSocket that is text", () => client({ webSocket: wrong("ws") }), "webSocket"],
  ["a client, a choice that is text", () => client({ deleteOnSignal: wrong("no") }), "deleteOnSignal"],
  ["a client, a key that is a number", () => client({ apiKey: wrong(7) }), "API key"],
  ["a client, tries that are half", () => client({ retry: { attempts: 1.5 } }), "retry.attempts"],
  [
    "a client, a time that is text",
    () => client({ timeouts: { idleSeconds: wrong("soon") } }),
    "timeouts.idleSeconds",
  ],
  [
    "a client, a life that is none",
    () => client({ timeouts: { lifetimeSeconds: 0.5 } }),
    "timeouts.lifetimeSeconds",
  ],
  ["a client, a hook that is text", () => client({ hooks: { onError: wrong("log") } }), "hooks.onError"],
  [
    "a client, a logger without methods",
    () => client({ logger: wrong({ info: () => undefined }) }),
    "logger",
  ],
  ["a client, a level that is none", () => client({ logger: console, logLevel: wrong("loud") }), "logLevel"],
  ["a client, a trace that is text", () => client({ traceContext: wrong("00-…") }), "traceContext"],
  ["a client, tracing without a beginning", () => client({ tracing: wrong({ begin: 1 }) }), "tracing.begin"],
  [
    "a client, two sources of traces",
    () => client({ tracing: openTelemetry(), traceContext: () => undefined }),
    "traceContext",
  ],
  ["Template.from, nothing", () => Template.from(""), "nameOrImage"],
  ["Template.copy, nothing", () => Template.from("base").copy([], "/"), "sources"],
  ["Template.copy, to nowhere", () => Template.from("base").copy("a", ""), "destination"],
  [
    "Template.copy, permissions that are none",
    () => Template.from("base").copy("a", "/", { permissions: "rwx" }),
    "permissions",
  ],
  [
    "Template.copy, a filter that is text",
    () => Template.from("base").copy("a", "/", { exclude: wrong("*") }),
    "exclude",
  ],
  ["Template.run, nothing", () => Template.from("base").run(" "), "command"],
  [
    "Template.run, a cache that is text",
    () => Template.from("base").run("ls", { skipCache: wrong("yes") }),
    "skipCache",
  ],
  ["Template.env, a value that is a number", () => Template.from("base").env({ A: wrong(1) }), "variables.A"],
  ["Template.workdir, nothing", () => Template.from("base").workdir(""), "path"],
  ["Template.user, nothing", () => Template.from("base").user(""), "name"],
  ["Template.startCommand, port 0", () => Template.from("base").startCommand("a", { port: 0 }), "port"],
  ["verifyWebhook, no secret", () => verifyWebhook("{}", {}, ""), "secret"],
  [
    "verifyWebhook, no tolerance",
    () => verifyWebhook("{}", {}, "s", { toleranceSeconds: 0 }),
    "toleranceSeconds",
  ],
  [
    "webhookHandler, nothing to call",
    () => webhookHandler({ secret: "s", onReport: wrong("log") }),
    "onReport",
  ],
];

function client(options: ConstructorParameters<typeof SandboxClient>[0]): SandboxClient {
  return new SandboxClient({ apiKey, baseUrl: "http://127.0.0.1:10", ...options });
}

describe("an option that no server accepts is refused by its name, before anything is sent", () => {
  test.each(freeCases)("%s", async (_, call, names) => refused(() => call(undefined), names));
});
