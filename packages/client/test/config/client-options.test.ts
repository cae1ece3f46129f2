import { describe, expect, test } from "vitest";
import { type SandboxClient, Template } from "../../src/index.js";
import { testClient } from "../support/clients.js";
import { type Case, refused, wrong } from "../support/refused-options.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const clientCases: Case<SandboxClient>[] = [
  [
    "create, a template that is no text",
    (client) => client.sandboxes.create({ template: wrong(7) }),
    "template",
  ],
  ["create, an empty template", (client) => client.sandboxes.create({ template: "" }), "template"],
  [
    "create, two templates",
    (client) => client.sandboxes.create({ template: "a", templateId: "1" }),
    "templateId",
  ],
  ["create, no life", (client) => client.sandboxes.create({ timeoutSeconds: 0 }), "timeoutSeconds"],
  [
    "create, too long a life",
    (client) => client.sandboxes.create({ timeoutSeconds: 86_401 }),
    "timeoutSeconds",
  ],
  ["create, a region that is none", (client) => client.sandboxes.create({ region: " " }), "region"],
  [
    "create, an internet that is text",
    (client) => client.sandboxes.create({ internetAccess: wrong("yes") }),
    "internetAccess",
  ],
  [
    "create, lists without internet",
    (client) => client.sandboxes.create({ internetAccess: false, egress: {} }),
    "egress",
  ],
  [
    "create, a list that is text",
    (client) => client.sandboxes.create({ egress: { allow: wrong("pypi.org") } }),
    "egress.allow",
  ],
  ["create, an empty entry", (client) => client.sandboxes.create({ egress: { deny: [""] } }), "egress.deny"],
  [
    "create, a variable that is a number",
    (client) => client.sandboxes.create({ env: { A: wrong(1) } }),
    "env.A",
  ],
  [
    "create, a variable without a name",
    (client) => client.sandboxes.create({ env: { "": "1" } }),
    "environment variable",
  ],
  ["create, an empty name", (client) => client.sandboxes.create({ name: "" }), "name"],
  [
    "create, a label that is a number",
    (client) => client.sandboxes.create({ metadata: { a: wrong(1) } }),
    "metadata.a",
  ],
  [
    "create, an isolation that is none",
    (client) => client.sandboxes.create({ minIsolation: wrong("chroot") }),
    "minIsolation",
  ],
  [
    "create, hardly any memory",
    (client) => client.sandboxes.create({ limits: { memoryMb: 64 } }),
    "limits.memoryMb",
  ],
  ["create, no processor", (client) => client.sandboxes.create({ limits: { vcpu: 0 } }), "limits.vcpu"],
  [
    "create, a choice that is text",
    (client) => client.sandboxes.create({ deleteOnSignal: wrong("no") }),
    "deleteOnSignal",
  ],
  ["create, a signal that is none", (client) => client.sandboxes.create({ signal: wrong(1) }), "signal"],
  [
    "create, no time",
    (client) => client.sandboxes.create({ requestTimeoutSeconds: -1 }),
    "requestTimeoutSeconds",
  ],
  ["getOrCreate, no name", (client) => client.sandboxes.getOrCreate(""), "name"],
  [
    "getOrCreate, no life",
    (client) => client.sandboxes.getOrCreate("a", { timeoutSeconds: 0.5 }),
    "timeoutSeconds",
  ],
  ["get, no id", (client) => client.sandboxes.get(""), "id"],
  ["get, an id that is a path", (client) => client.sandboxes.get(".."), "id"],
  [
    "connect, a choice that is text",
    (client) => client.sandboxes.connect("abc", { start: wrong("yes") }),
    "start",
  ],
  ["delete, no id", (client) => client.sandboxes.delete(wrong(undefined)), "id"],
  ["setTimeout, no life", (client) => client.sandboxes.setTimeout("abc", 0), "seconds"],
  [
    "list, a status that is none",
    (client) =>
      client.sandboxes
        .list({ status: wrong("alive") })
        .pages()
        .next(),
    "status",
  ],
  ["list, an empty name", (client) => client.sandboxes.list({ name: "" }).pages().next(), "name"],
  ["list, an empty region", (client) => client.sandboxes.list({ region: "" }).pages().next(), "region"],
  [
    "list, labels that are text",
    (client) =>
      client.sandboxes
        .list({ metadata: wrong("a=1") })
        .pages()
        .next(),
    "metadata",
  ],
  ["list, pages of nothing", (client) => client.sandboxes.list({ limit: 0 }).pages().next(), "limit"],
  [
    "templates.list, pages of nothing",
    (client) => client.templates.list({ limit: 0 }).pages().next(),
    "limit",
  ],
  [
    "templates.list, an empty category",
    (client) => client.templates.list({ category: "" }).pages().next(),
    "category",
  ],
  [
    "templates.list, an empty language",
    (client) => client.templates.list({ language: "" }).pages().next(),
    "language",
  ],
  [
    "templates.list, an empty text",
    (client) =>
      client.templates
        .list({ text: wrong(7) })
        .pages()
        .next(),
    "text",
  ],
  ["templates.get, no name", (client) => client.templates.get(" "), "id"],
  ["executeIsolated, no code", (client) => client.executeIsolated(wrong(undefined)), "code"],
  ["executeIsolated, no language", (client) => client.executeIsolated("1", { language: "" }), "language"],
  [
    "executeIsolated, a variable that is a number",
    (client) => client.executeIsolated("1", { env: { A: wrong(1) } }),
    "env.A",
  ],
  ["executeIsolated, too long", (client) => client.executeIsolated("1", { timeoutSeconds: 301 }), "timeout"],
  [
    "executeIsolated, a step that is text",
    (client) => client.executeIsolated("1", { onStep: wrong("log") }),
    "onStep",
  ],
  [
    "executeIsolated, an isolation that is none",
    (client) => client.executeIsolated("1", { minIsolation: wrong("jail") }),
    "minIsolation",
  ],
  ["health, no time", (client) => client.health({ requestTimeoutSeconds: 0 }), "requestTimeoutSeconds"],
  ...(
    [
      ["no name", { name: "" }, "name"],
      ["half a processor", { cpu: 0.5 }, "cpu"],
      ["no memory", { memoryMb: 0 }, "memoryMb"],
      ["too large a disk", { diskGb: 251 }, "diskGb"],
      ["an update that is text", { update: "yes" }, "update"],
      ["a cache that is text", { skipCache: "yes" }, "skipCache"],
      ["a context without a name", { context: "" }, "context"],
      ["a user that is a number", { registry: { username: 7, password: "p" } }, "registry.username"],
      ["a log that is text", { onLog: "log" }, "onLog"],
      ["a progress that is text", { onProgress: "log" }, "onProgress"],
      ["no time", { timeoutSeconds: 0 }, "timeoutSeconds"],
      ["a signal that is none", { signal: "stop" }, "signal"],
    ] as const
  ).map(
    ([what, options, names]): Case<SandboxClient> => [
      `templates.build, ${what}`,
      (client) => client.templates.build(Template.from("base"), wrong({ name: "mine", ...options })),
      names,
    ],
  ),
];

describe("an option that no server accepts is refused by its name, before anything is sent", () => {
  test.each(clientCases)("%s", async (_, call, names) => {
    const server = await scriptedServer((_, response) => json(response, 200, {}));
    await refused(() => call(testClient(server.url)), names);
    expect(server.calls()).toEqual([]);
  });
});
