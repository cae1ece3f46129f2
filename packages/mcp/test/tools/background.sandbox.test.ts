import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processCount } from "../../../../test/support/process-count.js";
import { connect, type McpConnection } from "../support/mcp-connection.js";

/** Seconds after which the server answers a call with a job instead of its result. Creating ten sandboxes at a time takes a part of them. */
const patience = 12;

let mcp: McpConnection;
let sandbox_id: unknown;
beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_MCP_DETACH_AFTER: String(patience) });
  sandbox_id = (await mcp.result("create_sandbox")).id;
});
afterAll(() => mcp.client.close());

const inSandbox = (name: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
  mcp.result(name, { sandbox_id, ...given });

const isRunning = async (command: string): Promise<boolean> =>
  (await inSandbox("run_command", { command: processCount(command) })).stdout !== "0\n";

/** Python code that runs until a file exists. */
const untilFile = (path: string): string =>
  `import os, time\nprint("begun", flush=True)\nwhile not os.path.exists("${path}"): time.sleep(0.02)\nprint("done")`;

const figure =
  "import base64\nclass Figure:\n  def _repr_png_(self): return base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')";
const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const png = {
  type: "image",
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};

describe("a call that ends in time gives an ordinary result, although it might have taken long", () => {
  it.each([
    ["execute_code", { code: "print(6 * 7)\n'value'", timeout: 300 }, { stdout: "42\n", result: "'value'" }],
    ["run_command", { command: "echo out; exit 3", timeout: 300 }, { stdout: "out\n", exit_code: 3 }],
  ])("%s", async (name, given, expected) => {
    const run = await inSandbox(name, given);
    expect(run).toMatchObject({ ...expected, termination_reason: "exit", sandbox_id });
    expect(run).not.toHaveProperty("process_id");
  });

  it("execute_code_isolated, and its sandbox is deleted", async () => {
    const run = await mcp.result("execute_code_isolated", { code: "print(1)", timeout: 300 });
    expect(run).toMatchObject({ stdout: "1\n", exit_code: 0 });
    expect(await mcp.failure("get_sandbox", { id: run.sandbox_id })).toMatch(/list_sandboxes/);
  });

  it("cut to its head and tail, with the file that holds all of it", async () => {
    const run = await inSandbox("execute_code", { code: "print('x' * 3_000_000)", timeout: 300 });
    expect(run.stdout_bytes).toBe(3_000_001);
    expect(JSON.stringify(run).length).toBeLessThan(32_000);
    const file = /all of it is in (\S+):/.exec(String(run.note))?.[1];
    expect(await inSandbox("run_command", { command: `wc -c < ${file}` })).toMatchObject({
      stdout: "3000001\n",
    });
  });
});

// Run these tests at the same time, each in a sandbox of its own: most of their time they only wait.
describe.concurrent("a call that takes longer is continued in the background", () => {
  /** Creates a sandbox. Resolves with a function that calls tools in it. */
  const inOwnSandbox = async () => {
    const { id } = await mcp.result("create_sandbox");
    return (name: string, given: Record<string, unknown> = {}, options?: Parameters<typeof mcp.result>[2]) =>
      mcp.result(name, { sandbox_id: id, ...given }, options);
  };

  it("of execute_code, with the variables of the sandbox", async ({ expect }) => {
    const own = await inOwnSandbox();
    await own("execute_code", { code: "before = 1" });
    const code = `${untilFile("/tmp/go")}\nafter = before + 1`;
    const messages: string[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void =>
      void messages.push(message ?? "");
    const handed = await own("execute_code", { code, timeout: 300 }, { onprogress });
    expect(handed).toMatchObject({ status: "running", stdout: "begun\n", complete: false });
    expect(handed.sandbox_id).toMatch(/./);
    expect(handed.note).toMatch(/execute_process_output.*execute_kill_process/);
    expect(messages).toContainEqual(expect.stringMatching(/^Running for \d+ s, 6 bytes written: begun$/));
    const { process_id, stdout_offset } = handed;
    await own("file_write", { path: "/tmp/go", content: "" });
    const rest = await own("execute_process_output", { process_id, stdout_offset, wait: 20 });
    expect(rest).toMatchObject({ status: "completed", stdout: "done\n", exit_code: 0, complete: true });
    expect(await own("execute_code", { code: "after" })).toMatchObject({ result: "2" });
  });

  it("of run_command", async ({ expect }) => {
    const handed = await inSandbox("run_command", { command: "echo begun; sleep 23456", timeout: 300 });
    expect(handed).toMatchObject({ status: "running", stdout: "begun\n" });
    const { process_id } = handed;
    expect(await inSandbox("execute_kill_process", { process_id })).toMatchObject({ status: "killed" });
    await expect.poll(() => isRunning("sleep 23456")).toBe(false);
  });

  it("of execute_code_isolated, in its sandbox, which the server deletes when it ends", async ({
    expect,
  }) => {
    const handed = await mcp.result("execute_code_isolated", { code: untilFile("/tmp/go"), timeout: 300 });
    expect(handed).toMatchObject({ status: "running" });
    expect(handed.note).toMatch(/delete_sandbox/);
    const place = { sandbox_id: handed.sandbox_id };
    await mcp.result("file_write", { ...place, path: "/tmp/go", content: "" });
    const given = { ...place, process_id: handed.process_id, wait: 20 };
    expect(await mcp.result("execute_process_output", given)).toMatchObject({ stdout: "begun\ndone\n" });
    await mcp.result("delete_sandbox", { id: handed.sandbox_id });
  });

  it.for(["execute_code", "execute_code_rich", "execute_code_isolated"])(
    "of %s, with the value and the plots that it ends with",
    async (name, { expect }) => {
      const code = `${untilFile("/tmp/go")}\n${figure}\ndisplay(Figure())\n40 + 2`;
      const given = { code, timeout: 300 };
      const handed = await (name === "execute_code_isolated"
        ? mcp.result(name, given)
        : (await inOwnSandbox())(name, given));
      expect(handed).toMatchObject({ status: "running" });
      const place = { sandbox_id: handed.sandbox_id };
      await mcp.result("file_write", { ...place, path: "/tmp/go", content: "" });
      const read = { ...place, process_id: handed.process_id, wait: 20 };
      const { content, structuredContent } = await mcp.call("execute_process_output", read);
      expect(structuredContent).toMatchObject({
        complete: true,
        result: "42",
        rich_outputs: expect.arrayContaining([{ type: "image/png", bytes: expect.any(Number) }]),
      });
      expect(content).toContainEqual(png);
    },
  );

  it("of execute_code, and whether it took the variables with it", async ({ expect }) => {
    const own = await inOwnSandbox();
    const code = `${untilFile("/tmp/go")}\nos._exit(3)`;
    const { process_id } = await own("execute_code", { code, timeout: 300 });
    await own("file_write", { path: "/tmp/go", content: "" });
    const end = await own("execute_process_output", { process_id, wait: 20 });
    expect(end).toMatchObject({ exit_code: 3, note: expect.stringMatching(/variables are gone/) });
  });

  it("unless the call is cancelled, which kills it", async ({ expect }) => {
    const cancellation = new AbortController();
    const given = { sandbox_id, command: "sleep 34567", timeout: 300 };
    const call = mcp.call("run_command", given, { signal: cancellation.signal });
    await expect.poll(() => isRunning("sleep 34567")).toBe(true);
    cancellation.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => isRunning("sleep 34567")).toBe(false);
  });
});

describe("a background execution", () => {
  it.each([
    ["execute_code_background", { code: "print('out')" }, /^proc_/],
    ["execute_code", { mode: "background", code: "print('out')", timeout: 86_400 }, /^proc_/],
    ["execute_code_async", { code: "print('out')", callback_url: "https://hooks.invalid/end" }, /^proc_/],
    ["run_command_background", { command: "echo out" }, /^cmd_/],
  ])("of %s is started at once, read and listed", async (name, given, id) => {
    const { process_id } = await inSandbox(name, given);
    expect(process_id).toMatch(id);
    const read = await inSandbox("execute_process_output", { process_id, wait: 20 });
    expect(read).toMatchObject({ status: "completed", exit_code: 0, stdout: "out\n", stdout_offset: 4 });
    const { processes } = await inSandbox("execute_list_processes", { max_results: 1 });
    expect(processes).toEqual([expect.objectContaining({ process_id, status: "completed", exit_code: 0 })]);
  });

  it("reports progress while it is awaited, with the last line that it has written", async () => {
    const command = "echo a line of more than a few bytes; sleep 45678";
    const { process_id } = await inSandbox("run_command_background", { command });
    const messages: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void => void messages.push(message);
    await mcp.result("execute_process_output", { sandbox_id, process_id, wait: 3 }, { onprogress });
    expect(messages).toContainEqual(expect.stringMatching(/ written: a line of more than a few bytes$/));
    await inSandbox("execute_kill_process", { process_id });
  });

  it("can be read from an offset on, and from its end", async () => {
    const { process_id } = await inSandbox("run_command_background", { command: "seq -w 10000" });
    await inSandbox("execute_process_output", { process_id, wait: 20 });
    const pieces: unknown[] = [];
    for (let stdout_offset = 0, complete = false; !complete; ) {
      const piece = await inSandbox("execute_process_output", { process_id, stdout_offset });
      pieces.push(piece.stdout);
      expect(JSON.stringify(piece).length).toBeLessThan(31_000);
      ({ stdout_offset, complete } = piece as { stdout_offset: number; complete: boolean });
    }
    expect(pieces.join("")).toMatch(/^00001\n(\d{5}\n){9998}10000\n$/);
    const tail = await inSandbox("execute_process_output", { process_id, stdout_offset: -12 });
    expect(tail).toMatchObject({ stdout: "09999\n10000\n", stdout_bytes: 60_000, complete: true });
  });

  it("with output that takes six times its size in JSON is read in smaller pieces", async () => {
    const command = "head -c 40000 /dev/zero";
    const { process_id } = await inSandbox("run_command_background", { command });
    const piece = await inSandbox("execute_process_output", { process_id, wait: 20 });
    expect(JSON.stringify(piece).length).toBeLessThan(31_000);
    expect(piece.stdout).toBe("\0".repeat(Number(piece.stdout_offset)));
    expect(piece.note).toMatch(/read the rest/);
  });

  it("that does not exist is refused with what to do", async () => {
    for (const name of ["execute_process_output", "execute_kill_process"])
      expect(await mcp.failure(name, { sandbox_id, process_id: "proc_0" })).toMatch(/execute_list_processes/);
  });
});

describe("values that code displays", () => {
  const table = "class Table:\n  def _repr_html_(self): return '<table></table>'";

  it.each([
    ["execute_code", {}],
    ["execute_code_rich", {}],
    ["execute_code_isolated", { sandbox_id: undefined }],
  ])("are shown by %s: images as images", async (name, more) => {
    const code = `${figure}\nFigure()`;
    const { content, structuredContent } = await mcp.call(name, { sandbox_id, code, ...more });
    expect(content).toContainEqual(png);
    expect(structuredContent).toMatchObject({
      rich_outputs: expect.arrayContaining([{ type: "image/png", bytes: expect.any(Number) }]),
    });
  });

  it("are left out, and counted, if they are too many images or one is too large", async () => {
    const large = "class Large:\n  def _repr_png_(self): return Figure()._repr_png_() + bytes(3_000_001)";
    const code = `${figure}\n${large}\nfor shown in [Large(), *[Figure()] * 11, Large()]: display(shown)`;
    const { content, structuredContent } = await mcp.call("execute_code", { sandbox_id, code });
    expect(content.filter(({ type }) => type === "image")).toHaveLength(10);
    const shown = structuredContent as { rich_outputs: { note?: string }[] };
    const notes = shown.rich_outputs.map(({ note }) => note);
    expect(notes.slice(0, 11)).toEqual([expect.stringMatching(/^Too large/), ...Array(10).fill(undefined)]);
    expect(notes.slice(11)).toEqual(Array(2).fill(expect.stringMatching(/^Only the first 10 images/)));
  });

  it.each([
    ["another kind of image", gif, "image/gif"],
    ["nothing", "", undefined],
    ["text", Buffer.from("oops").toString("base64"), undefined],
  ])("are labelled by their bytes, and no image if they are none: %s", async (_, data, mimeType) => {
    const shown = `import base64\nclass Shown:\n  def _repr_png_(self): return base64.b64decode('${data}')\nShown()`;
    const { content, structuredContent } = await mcp.call("execute_code", { sandbox_id, code: shown });
    const images = content.filter(({ type }) => type === "image");
    expect(images).toEqual(mimeType === undefined ? [] : [{ type: "image", data, mimeType }]);
    const note = expect.stringMatching(/^Not shown: it is not a whole PNG/);
    const { rich_outputs = [] } = structuredContent as { rich_outputs?: unknown[] };
    if (mimeType === undefined && data !== "")
      expect(rich_outputs).toContainEqual({ type: "image/png", bytes: 4, note });
  });

  it("are also shown as text by execute_code_rich", async () => {
    const code = `${table}\nTable()`;
    const html = { type: "text/html", bytes: 15, data: "<table></table>" };
    for (const [name, given] of [
      ["execute_code_rich", {}],
      ["execute_code", { mode: "rich" }],
    ] as const)
      expect((await inSandbox(name, { code, ...given })).rich_outputs).toContainEqual(html);
    for (const [name, given] of [
      ["execute_code_rich", { capture_rich: false }],
      ["execute_code", {}],
    ] as const)
      expect((await inSandbox(name, { code, ...given })).rich_outputs).toContainEqual({
        type: "text/html",
        bytes: 15,
      });
  });
});

describe.concurrent("code whose output cannot be read later is awaited to its end", () => {
  const offering = async (tools: string, work: (mcp: McpConnection) => Promise<void>): Promise<void> => {
    const limited = await connect({
      CLOUD_SANDBOX_MCP_TOOLS: tools,
      CLOUD_SANDBOX_MCP_DETACH_AFTER: "1",
    });
    await work(limited).finally(() => limited.client.close());
  };

  it("by execute_code_isolated, whose failures name no tool that is not there", ({ expect }) =>
    offering("execute_code_isolated", async (limited) => {
      const code = "import time; time.sleep(2); print('end')";
      expect(await limited.result("execute_code_isolated", { code, timeout: 300 })).toMatchObject({
        stdout: "end\n",
        exit_code: 0,
      });
      const sentence = await limited.failure("execute_code_isolated", { code, template_name: "none" });
      expect(sentence).toMatch(/none" not found\. Templates here: .*\.$/);
      expect(sentence).not.toMatch(/list_templates/);
    }));

  it("by run_command", ({ expect }) =>
    offering("create_sandbox,run_command", async (limited) => {
      const { id } = await limited.result("create_sandbox");
      const given = { sandbox_id: id, command: "sleep 2; echo end", timeout: 300 };
      expect(await limited.result("run_command", given)).toMatchObject({ stdout: "end\n" });
    }));

  it("by build_template", ({ expect }) =>
    offering("build_template", async (limited) => {
      const definition = { name: "waited-for", from: "base", commands: ["sleep 2"] };
      expect(await limited.result("build_template", definition)).toMatchObject({ status: "active" });
    }));
});
