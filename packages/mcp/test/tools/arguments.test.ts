import { describe, expect, it } from "vitest";
import { z } from "zod";
import { InvalidArgumentsError } from "../../src/errors/errors.js";
import { tools } from "../../src/profiles/hopx/profile.js";
import { readArguments } from "../../src/tools/definition/arguments.js";
import {
  code,
  executionTimeout,
  language,
  lifetime,
  runEnvironment,
} from "../../src/tools/definition/input-fields.js";

const definition = {
  name: "some_tool",
  input: z.object({
    code,
    language,
    timeout: executionTimeout,
    env: runEnvironment,
    lifetime: lifetime.optional(),
  }),
};

describe("readArguments", () => {
  it("fills in defaults, also for null, and null for an unknown argument is ignored", () => {
    const given = { code: "1", language: null, timeout: null, env: null, lifetime: null, template: null };
    expect(readArguments(definition, given)).toEqual({
      code: "1",
      language: "python",
      timeout: 30,
    });
  });

  it.each([
    ["no arguments", undefined, "code is required"],
    ["a missing one", {}, "code is required"],
    ["one that is null", { code: null }, "code is required"],
    ["a value of a record that is null", { code: "", env: { A: null } }, "env.A must be text"],
    [
      "an unknown one",
      { code: "", internet_access: true },
      "unknown argument internet_access (it takes code, language, timeout, env, lifetime).",
    ],
    [
      "a name that is nearly right",
      { code: "", timeout_seconds: 1 },
      "unknown argument timeout_seconds (did you mean timeout?).",
    ],
    ["a wrong type", { code: 1 }, "code must be text"],
    [
      "an unknown language",
      { code: "", language: "cobol" },
      "language must be one of python, javascript, bash, go",
    ],
    ["a timeout of 0", { code: "", timeout: 0 }, "timeout must be a whole number of 1 to 300 seconds"],
    ["a timeout of 301", { code: "", timeout: 301 }, "timeout must be a whole number of 1 to 300 seconds"],
    ["half a second", { code: "", timeout: 0.5 }, "timeout must be a whole number of 1 to 300 seconds"],
    [
      "a lifetime beyond a day",
      { code: "", lifetime: 86_401 },
      "lifetime must be a whole number of 1 to 86400 seconds",
    ],
    [
      "an impossible name",
      { code: "", env: { "A B": "" } },
      "env.A B must be a name of letters, digits and _",
    ],
    ["a list for an object", { code: "", env: ["A"] }, "env must be an object of names and values"],
    ["something that is no object", "code", "they must be an object"],
    ["text that is no number", { code: "", timeout: "soon" }, "timeout must be a whole number of 1 to 300"],
    [
      "text that is a large number",
      { code: "", timeout: "301" },
      "timeout must be a whole number of 1 to 300",
    ],
    ["text that is no object", { code: "", env: '["A"]' }, "env must be an object of names and values"],
    [
      "several",
      { language: 1, timeout: "half" },
      "code is required; language must be one of python, javascript, bash, go; timeout must be",
    ],
  ])("says what is wrong with %s", (_, given, problem) => {
    const read = () => readArguments(definition, given);
    expect(read).toThrow(InvalidArgumentsError);
    expect(read).toThrow(`some_tool cannot use these arguments: ${problem}`);
  });

  it.each([
    ["execute_code", "cwd", "working_dir"],
    ["execute_code", "workdir", "working_dir"],
    ["execute_code", "workingDirectory", "working_dir"],
    ["execute_code", "timeoutMs", "timeout, in seconds"],
    ["execute_code", "timeout_ms", "timeout, in seconds"],
    ["execute_code", "time_limit", "timeout"],
    ["execute_code", "envs", "env"],
    ["execute_code", "env_vars", "env"],
    ["execute_code", "script", "code"],
    ["execute_code", "runtime", "language"],
    ["execute_code", "session_id", "sandbox_id"],
    ["run_command", "cmd", "command"],
    ["file_write", "file_path", "path"],
    ["file_write", "text", "content"],
    ["create_sandbox", "timeoutMs", "timeout_seconds, in seconds"],
    ["create_sandbox", "env", "env_vars"],
    ["create_sandbox", "memory", "memory_mb"],
    ["create_sandbox", "cpus", "vcpu"],
    ["create_sandbox", "network", "internet_access"],
    ["get_sandbox", "sandbox_id", "id"],
  ])("%s says what %s is called: %s", (name, word, meant) => {
    const tool = tools.find((each) => each.name === name);
    const read = () => readArguments(tool as (typeof tools)[number], { [word]: "1" });
    expect(read).toThrow(`unknown argument ${word} (did you mean ${meant}?)`);
  });

  const wide = z.object({
    text: z.string().optional(),
    number: z.number().optional(),
    whole: z.int().default(1),
    flag: z.boolean().optional(),
    choice: z.enum(["one", "Two"]).optional(),
    list: z.array(z.int()).default([]),
    names: z.record(z.string(), z.string()).optional(),
    anything: z.record(z.string(), z.unknown()).optional(),
    nested: z.object({ whole: z.int().optional(), flag: z.boolean().default(false) }).optional(),
  });

  it.each([
    [{ whole: "20" }, { whole: 20 }],
    [{ whole: " 20.0 " }, { whole: 20 }],
    [{ number: "-1.5" }, { number: -1.5 }],
    [{ flag: "false" }, { flag: false }],
    [{ flag: "True" }, { flag: true }],
    [{ choice: "ONE" }, { choice: "one" }],
    [{ choice: "two " }, { choice: "Two" }],
    [{ list: '["1", 2]' }, { list: [1, 2] }],
    [{ names: '{"A":"1"}' }, { names: { A: "1" } }],
    [{ nested: '{"whole":"3","flag":"true"}' }, { nested: { whole: 3, flag: true } }],
    [{ nested: { whole: null, flag: null } }, { nested: { flag: false } }],
    [{ anything: '{"a":"1","b":null}' }, { anything: { a: "1", b: null } }],
    // Text stays text, whatever it looks like.
    [{ text: "20" }, { text: "20" }],
    [{ text: "true" }, { text: "true" }],
    [{ text: "null" }, { text: "null" }],
    [{ text: '{"A":1}' }, { text: '{"A":1}' }],
    [{ names: { A: "1", B: "true", C: "{}" } }, { names: { A: "1", B: "true", C: "{}" } }],
    [{ anything: { a: "1", b: "{}" } }, { anything: { a: "1", b: "{}" } }],
  ])("takes %j as %j", (given, expected) => {
    const read = readArguments({ name: "wide", input: wide }, given);
    expect(read).toEqual({ whole: 1, list: [], ...expected });
  });

  it("names the first few problems of thousands", () => {
    const env = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`A${index}`, index]));
    expect(() => readArguments(definition, { code: "", env })).toThrow(/^.{1,300}$/);
  });

  it("never repeats a value, which may be a secret", () => {
    expect(() => readArguments(definition, { code: "", env: { TOKEN: 12_345_678 } })).toThrow(
      /^some_tool cannot use these arguments: env.TOKEN must be text\.$/,
    );
  });
});

it.each(tools.map((tool) => [tool.name, tool] as const))(
  "the problems of %s say what each argument must be, in words other than the schema library's",
  (_, tool) => {
    for (const field of Object.keys(tool.input.shape)) {
      expect(() => readArguments(tool, { [field]: [[]] })).toThrow(
        /must be (?!.*(expected|received|nvalid))/,
      );
      expect(problemOf(() => readArguments(tool, { [field]: "" }))).not.toMatch(/expected|received|nvalid/);
    }
  },
);

function problemOf(read: () => unknown): string {
  try {
    read();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
