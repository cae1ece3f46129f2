import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ReplCode } from "../../src/execution/contexts/repl-code.js";
import { isLive, processesWith } from "../support/processes.js";
import { RunningAgent } from "../support/running-agent.js";

let agent: RunningAgent;
beforeAll(async () => {
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

/** Makes a new context. Returns a function that runs JavaScript in it; `request` may name another context. */
function newContext() {
  const context = randomUUID();
  return async (code: string, request: Partial<AgentSchemas["ExecuteRequest"]> = {}) =>
    (await agent.execute({ code, context, language: "javascript", ...request })).body;
}

describe("declarations", () => {
  test.for([
    ["const", "const x = 1", "const x = 2", "x", "2"],
    ["let", "let x = 1; x += 1", "let x = 5", "x", "5"],
    ["var", "var x = 1", "x += 1", "x", "2"],
    ["a class", "class X { a() { return 1; } }", "class X { a() { return 2; } }", "new X().a()", "2"],
    ["a function", "function f() { return 1; }", "function f() { return 2; }", "f()", "2"],
    ["an awaited one", "const x = await Promise.resolve(1)", "const x = await Promise.resolve(2)", "x", "2"],
    [
      "an import",
      "import { sep } from 'node:path'",
      "import * as sep from 'node:path'",
      "typeof sep",
      "'object'",
    ],
    ["patterns", "const { a, ...b } = { a: 1, c: 2 }", "const [a] = [3]", "[a, b]", "[ 3, { c: 2 } ]"],
  ] as const)("with %s last, and may be made again", async ([, first, second, value, expected]) => {
    const run = newContext();
    for (const code of [first, second]) expect(await run(code)).toMatchObject({ stderr: "", exit_code: 0 });
    expect((await run(value)).result).toBe(expected);
  });

  test("last when the code that made them failed", async () => {
    const run = newContext();
    expect(await run("const x = 1; throw new Error('why')")).toMatchObject({ exit_code: 1 });
    expect((await run("x")).result).toBe("1");
  });
});

test("code runs on, with its values and errors, after it has frozen the global object", async () => {
  const run = newContext();
  expect(await run("Object.freeze(globalThis); 1")).toMatchObject({ exit_code: 0, result: "1" });
  expect(await run("const list = [2]; list")).toMatchObject({ exit_code: 0, result: "[ 2 ]" });
  expect(await run("throw { list }")).toMatchObject({
    exit_code: 1,
    stderr: "Uncaught { list: [ 2 ] }\n",
  });
});

test("a frozen error is told as it is", async () => {
  const run = newContext();
  const { stderr, exit_code } = await run("throw Object.freeze(new Error('frozen'))");
  expect([exit_code, stderr]).toEqual([1, expect.stringContaining("Error: frozen\n")]);
  expect((await run("1 + 1")).result).toBe("2");
});

const one = newContext();
test.for([
  ["1 + 1", "2"],
  ["undefined", undefined],
  ["const x = 1", undefined],
  ["null", "null"],
  ["'text'", "'text'"],
  ["({ a: 1n })", "{ a: 1n }"],
  ["NaN", "NaN"],
  ["-0", "-0"],
  ["12n", "12n"],
  ["Symbol('s')", "Symbol(s)"],
  ["[1, [2, [3]]]", "[ 1, [ 2, [ 3 ] ] ]"],
  ["await Promise.resolve(7)", "7"],
  ["new Error('no failure').message", "'no failure'"],
] as const)("the value of %s is given as text", async ([code, result]) => {
  const body = await one(code);
  expect({ result: body.result, exit: body.exit_code }).toEqual({ result, exit: 0 });
});

describe("errors", () => {
  test("show where they are from, and none of what runs the code", async () => {
    const run = newContext();
    await run("function fail() {\n  throw new TypeError('why', { cause: new Error('deep') });\n}");
    const { stderr, exit_code } = await run("\nfail()");
    expect(exit_code).toBe(1);
    expect(stderr).toMatch(/TypeError: why\n +at fail \(execution-1\.js:2:9\)\n +at execution-2\.js:2:1/);
    expect(stderr).toContain("Error: deep");
    expect(stderr).not.toMatch(/node:inspector|cloud-sandbox|evalmachine/);
  });

  test("of syntax point at the line", async () => {
    const { stderr } = await newContext()("const a = 1;\nconst b = ;");
    expect(stderr).toMatch(/^execution-1\.js:2\nconst b = ;\n {10}\^\n\n.*SyntaxError/s);
  });

  test.for([
    ["a timer", "setTimeout(() => { throw new Error('late') }, 10)"],
    ["a promise", "Promise.reject(new Error('late'))"],
    ["a promise while others wait", "setInterval(() => {}, 10); Promise.reject(new Error('late'))"],
  ] as const)("of %s end the execution and keep the variables", async ([, code]) => {
    const run = newContext();
    await run("let x = 5");
    const ended = await run(code);
    expect(ended).toMatchObject({ exit_code: 1 });
    expect(ended.stderr).toContain("late");
    expect(ended.context_lost).toBeUndefined();
    expect((await run("x")).result).toBe("5");
  });
});

describe("an execution", () => {
  test("waits for what is left to do, as Node would", async () => {
    const { stdout } = await newContext()("setTimeout(() => console.log('late'), 50); console.log('now')");
    expect(stdout).toBe("now\nlate\n");
  });

  test.for([
    ["process.exit(3)", 3],
    ["process.exit()", 0],
    ["process.exitCode = 4", 4],
    ["setTimeout(() => process.exit(5), 10); setInterval(() => {}, 1000)", 5],
    ["try { process.exit(6) } catch {}", 6],
    ["await new Promise(() => {})", 13],
    ["process.kill(process.pid, 'SIGINT')", 130],
    ["setTimeout(() => process.kill(process.pid, 2), 10); setInterval(() => {}, 1000)", 130],
    ["process.kill(process.pid, 'SIGWINCH')", 0],
  ] as const)("that ends with %s reports it, and keeps the variables", async ([code, exitCode]) => {
    const run = newContext();
    await run("let x = 5");
    const ended = await run(code);
    expect(ended).toMatchObject({ exit_code: exitCode, termination_reason: "exit" });
    expect(ended.context_lost).toBeUndefined();
    expect(await run("x")).toMatchObject({ result: "5", exit_code: 0 });
  });

  test.for([
    ["process.reallyExit(3)", 3, "exit"],
    ["process.kill(process.pid, 'SIGKILL')", 137, "signal"],
    ["process.abort()", 134, "signal"],
    ["process.kill(0, 'SIGWINCH')", 70, "exit"],
    ["require('fs').writeSync(3, Buffer.alloc(100, 255)); while (true);", 137, "signal"],
  ] as const)("that ends the interpreter with %s says so", async ([code, exitCode, reason]) => {
    const run = newContext();
    await run("let x = 5");
    const ended = await run(`console.log("said"); ${code}`);
    expect(ended).toMatchObject({
      stdout: "said\n",
      exit_code: exitCode,
      termination_reason: reason,
      context_lost: true,
    });
    expect((await run("typeof x")).result).toBe("'undefined'");
  });

  test.for([
    ["a loop", "while (true);"],
    ["an await", "await new Promise((resolve) => setTimeout(resolve, 60_000))"],
    ["an interval", "setInterval(() => console.log('tick'), 300)"],
    ["a server", "require('http').createServer().listen(0)"],
    ["a child", "require('child_process').execSync('sleep 60')"],
    ["a child that is not waited for", "require('child_process').spawn('sleep', ['60'])"],
  ] as const)("with %s that is over its time is interrupted and keeps the variables", async ([, code]) => {
    const run = newContext();
    const tag = `tag-${randomUUID()}`;
    await run("let x = 5");
    const ended = await run(code, { timeout: 1, env: { TAG: tag } });
    expect(ended).toMatchObject({ exit_code: 124, termination_reason: "timeout" });
    expect(ended.context_lost).toBeUndefined();
    expect(processesWith(tag)).toEqual([]);
    expect(await run("x")).toMatchObject({ result: "5", stdout: "" });
  });

  test("that cannot be interrupted is ended, and says so", async () => {
    const run = newContext();
    const ended = await run("await 1; await new Promise((r) => setImmediate(r)); while (true);", {
      timeout: 3,
    });
    expect(ended).toMatchObject({ exit_code: 124, termination_reason: "timeout", context_lost: true });
    expect((await run("1")).result).toBe("1");
  });

  test("has its directory and variables for itself, and an empty input", async () => {
    const run = newContext();
    const code = "console.log(process.cwd(), process.env.A, String(require('fs').readFileSync(0)))";
    expect((await run(code, { workdir: "/usr", env: { A: "1" } })).stdout).toBe("/usr 1 \n");
    expect((await run(code)).stdout).toBe(`${agent.workspace} undefined \n`);
  });

  test("may leave a process behind", async () => {
    const { stdout } = await newContext()(
      "const c = require('child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }); c.unref(); console.log(c.pid)",
    );
    expect(isLive(Number(stdout))).toBe(true);
    process.kill(Number(stdout));
  });
});

test("modules are resolved from the directory in which code runs", async () => {
  const run = newContext();
  for (const name of ["one", "two"]) {
    await mkdir(join(agent.workspace, name), { recursive: true });
    await writeFile(join(agent.workspace, name, "m.mjs"), `export const name = "${name}"; export default 1;`);
    const code = "import main, { name as n } from './m.mjs'; [main, n, (await import('./m.mjs')).name]";
    expect((await run(code, { workdir: name })).result).toBe(`[ 1, '${name}', '${name}' ]`);
  }
});

test("values are displayed by their own display methods", async () => {
  const { body } = await agent.call<AgentSchemas["ExecuteRichResponse"]>("POST", "/execute/rich", {
    language: "javascript",
    code: `display({ "text/html": "<b>1</b>" }, "plain");
      display({ "application/json": { a: [1] }, "image/png": new Uint8Array([1, 2]) });
      ({ [Symbol.for("Jupyter.display")]: () => ({ "text/markdown": "*1*" }) })`,
  });
  expect(body).toMatchObject({
    stdout: "plain\n",
    html: "<b>1</b>",
    json: { a: [1] },
    png: "AQI=",
    markdown: "*1*",
  });
  expect(body.rich_outputs?.map(({ type, data }) => [type, data])).toEqual([
    ["text/html", "<b>1</b>"],
    ["application/json", { a: [1] }],
    ["image/png", "AQI="],
    ["text/markdown", "*1*"],
  ]);
});

test.for([
  ["import 'a'", 'await __import("a");'],
  ["import a from 'b'", 'let { default: a } = await __import("b");'],
  ["import * as a from 'b';", 'let a = await __import("b");'],
  ["import a, * as b from 'c'", 'let b = await __import("c"), { default: a } = b;'],
  ["import a, { b, c as d } from 'e'", 'let { default: a, b: b, c: d } = await __import("e");'],
  ["import { 'x y' as z } from 'e'", "let { 'x y': z } = await __import(\"e\");"],
  ["import {\n  a, // one\n  b,\n} from 'c'\nx", 'let { a: a, b: b } = await __import("c");\n\n\n\nx'],
  [
    "import a from './b.json' with { type: 'json' }",
    "let { default: a } = await __import(\"./b.json\", { with: { type: 'json' } });",
  ],
  ["f(await import('a'))", "f(await __import('a'))"],
  ["`\nimport a from 'b'\n`", "`\nimport a from 'b'\n`"],
  ["// import a from 'b'", "// import a from 'b'"],
  ["import.meta.url", "__importMeta.url"],
  ["export const a = 1", "let   a = 1"],
  ["export function f() {}", "function f() {}"],
  ["export default class A {}", "class A {}"],
  ["export default 42", "void (42);"],
  ["export default () => 1;", "void (() => 1);"],
  ["const a = 1;\nexport {\n  a,\n};", "let   a = 1;\n\n\n"],
  ["export * from 'a'", 'await __import("a");'],
  ["export { a } from 'b'", 'await __import("b");'],
  ["const no = ", "const no = "],
] as const)("%s is rewritten for a console", async ([code, expected]) => {
  const repl = new ReplCode();
  expect((await repl.prepare(code)).replaceAll('"', "'")).toBe(expected.replaceAll('"', "'"));
});

test("a sum of 3,000 terms is rewritten as any other code", async () => {
  const sum = Array.from({ length: 3000 }, () => "1").join(" + ");
  expect((await newContext()(`const total = () => ${sum}; total()`)).result).toBe("3000");
});

describe("a name may be declared again in another way", () => {
  const kinds = {
    const: "const x = 1",
    let: "let x = 1",
    "let without a value": "let x",
    var: "var x = 1",
    class: "class x {}",
    function: "function x() {}",
    pattern: "const { x, y } = { x: 1, y: 2 }",
    import: "import { sep as x } from 'node:path'",
  };
  test.for(
    Object.keys(kinds).flatMap((first) => Object.keys(kinds).map((second) => [first, second] as const)),
  )("%s as %s", async ([first, second]) => {
    const run = newContext();
    const codes = [
      kinds[first as keyof typeof kinds],
      `globalThis.before = 1\n${kinds[second as keyof typeof kinds]}\n; var kind = typeof x`,
    ];
    for (const code of codes) expect(await run(code)).toMatchObject({ stderr: "", exit_code: 0 });
    const [expected] = [
      { class: "function", function: "function", import: "string", "let without a value": "undefined" }[
        second
      ] ?? "number",
    ];
    expect((await run("kind")).result).toBe(`'${expected}'`);
  });

  test("and a function is there before its declaration", async () => {
    const run = newContext();
    await run("const main = 1");
    expect(await run("main(); function main() { console.log('ran'); }")).toMatchObject({ stdout: "ran\n" });
  });
});

describe("a constant cannot be assigned", () => {
  const assignments = [
    "x = 2",
    "globalThis.before = 1\nx = 2",
    "x++",
    "for (const n of [1]) x += n",
    "(() => { x = 2; })()",
    "[x] = [2]",
    "({ x } = { x: 2 })",
    "({ x = 2 } = {})",
    "({ a: { ...x } } = { a: {} })",
    "for (x of [2]);",
    "for (x in { a: 2 });",
    "x &&= 2",
  ];
  const constants = [
    "const x = 1",
    "const { x } = { x: 1 }",
    "export const x = 1",
    "import { sep as x } from 'path'",
  ];
  const thrown = {
    stderr: expect.stringContaining("TypeError: Assignment to constant variable."),
    exit_code: 1,
  };

  test.for(assignments)("in the same code: %s", async (assignment) => {
    expect(await newContext()(`const x = 1;\n${assignment}`)).toMatchObject(thrown);
  });

  test.for(assignments)("in later code: %s", async (assignment) => {
    const run = newContext();
    await run("const x = 1");
    expect(await run(assignment)).toMatchObject(thrown);
    expect((await run("x")).result).toBe("1");
  });

  test.for(constants)("that is made with %s", async (constant) => {
    const run = newContext();
    await run(constant);
    expect(await run("x = 2")).toMatchObject(thrown);
    expect((await run("let x = 3; x += 1")).result).toBe("4");
    expect((await run("x = 5")).result).toBe("5");
  });

  test("but its value is computed first, and an assignment that does not happen is none", async () => {
    const run = newContext();
    await run("const x = 1");
    expect(await run("x = console.log('computed')")).toMatchObject({ ...thrown, stdout: "computed\n" });
    expect(await run("x ??= 2")).toMatchObject({ stderr: "", result: "1" });
    expect(await run("for (x of []);")).toMatchObject({ stderr: "" });
  });
});

test.for(["const x = 1; { let x = 2; x = 3; }", "const x = 1; (function (x) { x = 2; })()"])(
  "another variable of its name can be: %s",
  async (code) => expect(await newContext()(code)).toMatchObject({ stderr: "", exit_code: 0 }),
);

describe("code is the main module", () => {
  test.for([
    ["require.main === module", "true"],
    ["process.mainModule === module", "true"],
    ["exports === module.exports", "true"],
    ["typeof __filename + typeof __dirname", "'stringstring'"],
    ["__filename === process.argv[1]", "true"],
    ["path.dirname(__filename) === __dirname", "true"],
    ["import.meta.filename === __filename", "true"],
    ["import.meta.url === require('url').pathToFileURL(__filename).href", "true"],
    ["import.meta.resolve('fs')", "'node:fs'"],
    ["require.resolve('node:fs')", "'node:fs'"],
  ] as const)("%s", async ([code, result]) => {
    expect(await newContext()(`var path = require("path");\n${code}`)).toMatchObject({ stderr: "", result });
  });

  test("and what it loads is not", async () => {
    const name = `main-${randomUUID()}.cjs`;
    await writeFile(
      join(agent.workspace, name),
      "module.exports = [require.main === module, require.main.filename];",
    );
    const body = await newContext()(`const [own, main] = require("./${name}"); [own, main === __filename]`);
    expect(body.result).toBe("[ false, true ]");
  });
});
