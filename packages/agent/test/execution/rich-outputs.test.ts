import { randomUUID } from "node:crypto";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { RunningAgent } from "../support/running-agent.js";

type Rich = AgentSchemas["ExecuteRichResponse"];

let agent: RunningAgent;
beforeAll(async () => {
  // Use the system's Python, as sandboxes do: it has matplotlib and pandas.
  vi.stubEnv("PATH", `/usr/bin:${process.env.PATH}`);
  agent = await RunningAgent.start();
});
afterAll(() => agent[Symbol.asyncDispose]());

/**
 * Runs code in one shared context by default, because importing the libraries takes longer than the code of these
 * tests.
 */
async function rich(code: string, request: Partial<AgentSchemas["ExecuteRichRequest"]> = {}): Promise<Rich> {
  const context = "shared";
  return (await agent.call<Rich>("POST", "/execute/rich", { code, context, ...request })).body;
}

async function cell(code: string, on = agent, context: string = randomUUID()): Promise<Rich> {
  return (await on.call<Rich>("POST", "/execute/ipython", { code, context })).body;
}

test.for(["_repr_html_ = None", "def _repr_html_(self): raise NotImplementedError"])(
  "a value whose class says %s is shown as text, without an error",
  async (method) => {
    const answer = await rich(`class Off:\n  ${method}\n  def __repr__(self): return 'off'\nOff()`);
    expect(answer).toMatchObject({ exit_code: 0, result: "off", stderr: "" });
    expect(types(answer) ?? []).toEqual([]);
  },
);

const types = (answer: Rich) => answer.rich_outputs?.map(({ type }) => type);
const isPng = (data: unknown) => Buffer.from(String(data), "base64").subarray(1, 4).toString() === "PNG";

describe("a value", () => {
  test.for([
    ["1 + 1", "2"],
    ["'text'", "'text'"],
    ["None", undefined],
    ["x = 1", undefined],
    ["1;", undefined],
    ["print(1)", undefined],
    ["if True:\n  5", undefined],
    ["if False:\n  1\nelse:\n  5", undefined],
    ["*[1], 2", "(1, 2)"],
    ["def f():\n  return 1\n\nf(\n)  # the end\n", "1"],
    ["'''\n1\n'''", String.raw`'\n1\n'`],
    ["text = '''\n1\n'''", undefined],
    ["x = 1; x", "1"],
    ["from __future__ import annotations\ndef f(x: y): pass\nf.__annotations__['x']", "'y'"],
    ["import asyncio\nawait asyncio.sleep(0, 3)", "3"],
    ["# only a comment", undefined],
    ["", undefined],
  ] as const)("of %s is given as text", async ([code, result]) => {
    const answer = await rich(code);
    expect({ result: answer.result, outputs: answer.rich_outputs }).toEqual({ result, outputs: [] });
    expect(answer.success).toBe(true);
  });

  test.for([
    ["_repr_html_", "'<b>1</b>'", "html", "text/html", "html"],
    ["_repr_svg_", "'<svg/>'", "svg", "image/svg+xml", "svg"],
    ["_repr_markdown_", "'*1*'", "markdown", "text/markdown", "markdown"],
    ["_repr_latex_", "'$1$'", "latex", "text/latex", "latex"],
    ["_repr_png_", "b'\\x01\\x02'", "png", "image/png", "base64"],
    ["_repr_json_", "{'a': [1]}", "json", "application/json", "json"],
    ["_repr_html_", "('<b>1</b>', {'meta': 1})", "html", "text/html", "html"],
  ] as const)("with %s that gives %s is shown as that", async ([method, value, field, type, format]) => {
    const answer = await rich(`class Shown:\n  def ${method}(self): return ${value}\nShown()`);
    expect(types(answer)).toEqual([type]);
    expect(answer.rich_outputs?.[0]?.format).toBe(format);
    expect(answer[field]).toEqual(answer.rich_outputs?.[0]?.data);
    expect(answer.result).toMatch(/^<__main__.Shown/);
  });

  test("may show itself in several ways, and some that fail", async () => {
    const answer = await rich(
      "class Shown:\n  def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'p', 'text/html': 'h'}\n  def _repr_markdown_(self): return None\n  def _repr_svg_(self): raise ValueError('no svg')\nShown()",
    );
    expect(types(answer)).toEqual(["text/html"]);
    expect(answer.stderr).toContain("ValueError: no svg");
    expect(answer.success).toBe(true);
  });

  test("that is a class, or answers to every name, is shown as text", async () => {
    const answer = await rich(
      "class Any:\n  def __getattr__(self, name): return lambda *_: 'x'\ndisplay(Any)\nAny()",
    );
    expect(answer.rich_outputs).toEqual([]);
    expect(answer.stderr).toBe("");
  });
});

test("everything displayed is reported, in order", async () => {
  const answer = await rich(
    "class H:\n  def __init__(self, n): self.n = n\n  def _repr_html_(self): return str(self.n)\nfor n in range(3): display(H(n))\ndisplay('text', H(3))\ndisplay({'text/markdown': 'm'}, raw=True)\nH(4)",
  );
  expect(answer.rich_outputs?.map(({ data }) => data)).toEqual(["0", "1", "2", "3", "m", "4"]);
  expect(answer).toMatchObject({ stdout: "'text'\n", html: "0" });
});

test.for([
  ["too many", "for n in range(70): display({'text/html': 'x'}, raw=True)", 64, 6],
  ["too large", "for n in range(12): display({'text/html': 'x' * (1 << 20)}, raw=True)", 8, 4],
] as const)(
  "displayed values that are %s are left out, and the answer says so",
  async ([, code, kept, dropped]) => {
    const answer = await rich(code);
    expect(answer.rich_outputs).toHaveLength(kept);
    expect(answer.rich_outputs_dropped).toBe(dropped);
    expect(answer.stderr).toContain(`${dropped} displayed values were left out`);
  },
);

test("displayed values are left out for callers that do not want them", async () => {
  const answer = await rich("display({'text/html': 'x'}, raw=True)", { capture_rich: false });
  expect(answer.rich_outputs).toEqual([]);
});

describe("matplotlib", { timeout: 60_000, tags: ["python3-matplotlib"] }, () => {
  const figure = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n";

  test.for([
    ["without show()", `${figure}1;`, 1],
    ["with show()", `${figure}plt.show()`, 1],
    ["several", `${figure}plt.show()\nplt.figure()\nplt.plot([2])\nplt.figure();`, 3],
    ["as the last value", "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nfig", 1],
    ["before an error", `${figure}raise ValueError`, 1],
    ["closed", `${figure}plt.close()`, 0],
  ] as const)("shows plots %s", async ([, code, count]) => {
    const answer = await rich(code, { timeout: 50 });
    expect(types(answer)).toEqual(Array.from({ length: count }, () => "image/png"));
    expect(answer.rich_outputs?.every(({ data }) => isPng(data))).toBe(true);
    if (count > 0) expect(isPng(answer.png)).toBe(true);
  });

  test("shows each plot once, in the execution that made it", async () => {
    const context = randomUUID();
    expect((await rich(figure, { context, timeout: 50 })).rich_outputs).toHaveLength(1);
    expect((await rich("plt.get_fignums()", { context })).result).toBe("[]");
  });
});

test("frames of pandas are HTML and text", { timeout: 60_000, tags: ["python3-pandas"] }, async () => {
  const answer = await rich("import pandas\npandas.DataFrame({'a': [1, 2]})", { timeout: 50 });
  expect(answer.html).toContain("<table");
  expect(answer.result).toMatch(/a\n0\s+1\n1\s+2/);
});

describe("IPython", { timeout: 60_000, tags: ["python3-ipython"] }, () => {
  test.for([
    ["a line magic", "%timeit -n 1 -r 1 pass", /loop/],
    ["a cell magic", "%%bash\necho from bash", /^from bash\n$/],
    ["a command", "!echo from shell", /^from shell\n$/],
    ["a command's output", "lines = !echo one; echo two\nprint(list(lines))", /^\['one', 'two'\]\n$/],
    ["plain code", "print(6 * 7)", /^42\n$/],
    ["a session's own name", "print(type(get_ipython()).__name__)", /Shell\n$/],
  ] as const)("runs %s", async ([, code, stdout]) => {
    const answer = await cell(code, agent, "cells");
    expect(answer.stdout).toMatch(stdout);
    expect(answer).toMatchObject({ exit_code: 0, stderr: "" });
  });

  test("is loaded when code needs it, with the variables that exist already", async () => {
    const context = randomUUID();
    const run = async (code: string) => (await agent.execute({ code, context, timeout: 50 })).body;
    await run("x = 20");
    expect((await run("import sys\n'IPython' in sys.modules")).result).toBe("False");
    expect((await run("y = 22\n%who_ls int")).result).toBe("['x', 'y']");
    expect((await run("!echo $x")).stdout).toBe("20\n");
    expect((await run("x + y")).result).toBe("42");
    expect((await run("%%time\nraise ValueError('inside')")).exit_code).toBe(1);
    expect((await run("x")).result).toBe("20");
  });

  test("displays through its own module", async () => {
    const answer = await rich(
      "from IPython.display import display, HTML, Markdown, JSON\ndisplay(HTML('<i>1</i>'))\ndisplay(Markdown('*2*'))\nHTML('<i>3</i>')",
      { context: "cells", timeout: 50 },
    );
    expect(answer.rich_outputs?.map(({ type, data }) => [type, data])).toEqual([
      ["text/html", "<i>1</i>"],
      ["text/markdown", "*2*"],
      ["text/html", "<i>3</i>"],
    ]);
    expect(answer).toMatchObject({ stdout: "", success: true });
  });

  test("leaves nothing in the home directory", async () => {
    const answer = await cell(
      "import os, glob\nprint(glob.glob(os.path.expanduser('~/.ipython/profile_default/history*')))",
      agent,
      "cells",
    );
    expect(answer.stdout).toBe("[]\n");
  });

  test("is needed by magics alone: other code runs without it", async () => {
    await using plain = await RunningAgent.start({ ipython: false });
    expect(await cell("x = 1\nprint(x)\nx", plain)).toMatchObject({
      stdout: "1\n",
      result: "1",
      exit_code: 0,
    });
    const magic = await cell("%timeit 1", plain);
    expect(magic.exit_code).toBe(1);
    expect(magic.stderr).toMatch(/need IPython.*pip install ipython/);
    const info = await plain.call<AgentSchemas["AgentInfo"]>("GET", "/info");
    expect(info.body.features).toMatchObject({ rich_output: true, ipython_kernel: false });
  });
});
