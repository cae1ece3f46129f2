import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownVariables } from "../support/own-variables.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());
beforeEach(async () => {
  await agent.call("DELETE", "/env");
});

const mask = "***MASKED***";
const shown = async () => ownVariables(await agent.call("GET", "/env"));
const set = (method: "PUT" | "PATCH", env_vars: object, more: object = {}) =>
  agent.call(method, "/env", { env_vars, ...more });
const valueInProgram = async (name: string) =>
  (await agent.run({ command: `printf %s "$${name}"` })).body.stdout;

describe("changing variables", () => {
  test("PUT replaces all, PATCH merges, whatever merge says", async () => {
    await set("PUT", { A: "1", B: "2" });
    await set("PUT", { B: "3" });
    expect(await shown()).toEqual({ B: "3" });
    const { status, body } = await set("PATCH", { C: "4" }, { merge: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({ env_vars: { B: "3", C: "4" }, count: 2 });
  });

  test("PUT merges when told to", async () => {
    await set("PUT", { A: "1" });
    await set("PUT", { B: "2" }, { merge: true });
    expect(await shown()).toEqual({ A: "1", B: "2" });
  });

  test("DELETE takes one or all", async () => {
    await set("PUT", { A: "1", B: "2", C: "3" });
    expect((await agent.call("DELETE", "/env/A")).body.env_vars).toEqual({ B: "2", C: "3" });
    expect((await agent.call("DELETE", "/env/A")).status).toBe(200);
    expect((await agent.call("DELETE", "/env")).body).toMatchObject({ env_vars: {}, count: 0 });
  });

  test("programs see the new values", async () => {
    await set("PUT", { GREETING: "hello\nworld é" });
    expect(await valueInProgram("GREETING")).toBe("hello\nworld é");
    await agent.call("DELETE", "/env/GREETING");
    expect(await valueInProgram("GREETING")).toBe("");
  });

  test("names that mean something to JavaScript are ordinary", async () => {
    await agent.call("PUT", "/env", Buffer.from('{"env_vars":{"__proto__":"1","constructor":"2"}}'));
    expect(await valueInProgram("__proto__")).toBe("1");
    expect(await valueInProgram("constructor")).toBe("2");
  });
});

test("GET tells what programs get beside them, which no change touches", async () => {
  const inherited = async () => Object((await agent.call("GET", "/env")).body.inherited);
  const before = await inherited();
  expect(before).toMatchObject({ LANG: "C.UTF-8", HOME: expect.any(String) });
  expect(await valueInProgram("PATH")).toBe(before.PATH);
  await set("PUT", { PATH: "/bin" });
  expect(await inherited()).toEqual(before);
});

test.for([
  ["v16.20.2", "--require=/opt/proxy.cjs"],
  ["v18.17.1", "--require=/opt/proxy.cjs"],
  ["v18.18.0", "--import=file:///opt/proxy.cjs"],
  ["v26.1.0", "--import=file:///opt/proxy.cjs"],
  ["not a version", "--require=/opt/proxy.cjs"],
])(
  "a Node.js that tells %s loads the proxy's script with an option that it knows",
  async ([told, option]) => {
    const directory = await mkdtemp(join(tmpdir(), "agent-test-node-"));
    await writeFile(join(directory, "node"), `#!/bin/sh\necho ${told}\n`, { mode: 0o755 });
    await using other = await RunningAgent.start({
      egress: { socket: join(directory, "egress"), nodePreload: "/opt/proxy.cjs" },
      environment: { PATH: `${directory}:${process.env.PATH}` },
    });
    expect((await other.call("GET", "/env")).body.inherited).toMatchObject({ NODE_OPTIONS: option });
    await rm(directory, { recursive: true });
  },
);

test("what GET tells can be written back, and sets nothing that programs inherit", async () => {
  await set("PUT", { OWN: "1" });
  const { env_vars } = (await agent.call("GET", "/env")).body;
  const { body } = await set("PUT", { ...Object(env_vars), OTHER: "2" });
  expect(body).toMatchObject({ env_vars: { OWN: "1", OTHER: "2" }, count: 2 });
});

describe("values whose name looks secret", () => {
  const names = ["API_KEY", "my_secret", "DB_PASSWORD", "GITHUB_TOKEN", "AWS_CREDENTIALS", "BASIC_AUTH"];

  test.for(names)("%s is masked in every answer, and real for programs", async (name) => {
    expect((await set("PUT", { [name]: "hunter2" })).body.env_vars).toEqual({ [name]: mask });
    expect((await set("PATCH", { PLAIN: "x" })).body.env_vars).toEqual({ [name]: mask, PLAIN: "x" });
    expect(await shown()).toEqual({ [name]: mask, PLAIN: "x" });
    expect(await valueInProgram(name)).toBe("hunter2");
  });

  test.for(["PUT", "PATCH"] as const)(
    "keep their value when the mask is written back with %s",
    async (method) => {
      await set("PUT", { API_KEY: "hunter2" });
      await set(method, { API_KEY: mask, OTHER: "1" });
      expect(await valueInProgram("API_KEY")).toBe("hunter2");
    },
  );

  test("are not in an error's text", async () => {
    const { status, bytes } = await set("PUT", { API_KEY: "hunter2\0" });
    expect(status).toBe(400);
    expect(bytes.toString()).not.toContain("hunter2");
  });
});

describe("limits", () => {
  test.for([
    ["a name with a space", { "A B": "1" }, 400],
    ["an empty name", { "": "1" }, 400],
    ["a name that starts with a digit", { "1A": "1" }, 400],
    ["a value that is no text", { A: 1 }, 400],
    ["a value that is too long", { A: "x".repeat(40_000) }, 400],
    [
      "too many variables",
      Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`A${index}`, ""])),
      400,
    ],
    [
      "too much in all",
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`A${index}`, "x".repeat(32_000)])),
      413,
    ],
  ] as const)("%s is refused and changes nothing", async ([, variables, status]) => {
    await set("PUT", { KEPT: "1" });
    expect((await set("PATCH", variables)).status).toBe(status);
    expect(await shown()).toEqual({ KEPT: "1" });
  });

  test("also when it comes little by little", async () => {
    const statuses = new Set<number>();
    for (let turn = 0; turn < 20; turn += 1)
      statuses.add((await set("PATCH", { [`A${turn}`]: "x".repeat(32_000) })).status);
    expect(statuses).toEqual(new Set([200, 413]));
    expect((await agent.run({ command: "echo fine" })).body.stdout).toBe("fine\n");
  });
});
