import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { DisplayedValue } from "../../src/index.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "saved-"));
});
afterAll(() => rm(directory, { recursive: true }));

const bytes = Uint8Array.from({ length: 300 }, (_, at) => at % 256);
const base64 = Buffer.from(bytes).toString("base64");
const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

const outputs: [type: string, data: unknown, content: Uint8Array | string][] = [
  ["image/png", base64, bytes],
  ["image/jpeg", base64.replaceAll(/.{76}/g, "$&\n"), bytes],
  ["application/pdf", base64, bytes],
  ["image/svg+xml", svg, svg],
  ["text/html", "<b>ü</b>", "<b>ü</b>"],
  ["text/plain", "plain", "plain"],
  ["application/json", { a: [1] }, '{"a":[1]}'],
  ["application/json", "text", '"text"'],
];

const ended = { success: true, exit_code: 0, stdout: "", stderr: "", execution_time: 0 };

async function displayed(): Promise<DisplayedValue[]> {
  const rich_outputs = outputs.map(([type, data]) => ({ type, data }));
  const { sandbox } = await sandboxWith({ "POST /execute/rich": ok({ ...ended, rich_outputs }) });
  return (await sandbox.execute("1")).richOutputs;
}

test("every kind of displayed output is saved as a file of its type", async () => {
  const values = await displayed();
  for (const [at, value] of values.entries()) {
    const path = join(directory, `output-${at}`);
    const [, , content = ""] = outputs[at] ?? [];
    const expected = Buffer.from(content);
    expect(await value.saveTo(path)).toEqual({ path, bytes: expected.length });
    expect(await readFile(path)).toEqual(expected);
  }
});

test("outputs of a server that gives only one of each type are saved too", async () => {
  const { sandbox } = await sandboxWith({ "POST /execute/rich": ok({ ...ended, png: base64, svg }) });
  const { richOutputs } = await sandbox.execute("1");
  const paths = [join(directory, "flat.png"), join(directory, "flat.svg")] as const;
  await richOutputs[0]?.saveTo(paths[0]);
  await richOutputs[1]?.saveTo(paths[1]);
  expect([...(await readFile(paths[0]))]).toEqual([...bytes]);
  expect(await readFile(paths[1], "utf8")).toBe(svg);
});

test("saving replaces a file, refuses a directory, and creates a directory that is missing", async () => {
  const [value] = await displayed();
  const path = join(directory, "there.png");
  await writeFile(path, "much longer".repeat(100));
  await value?.saveTo(path);
  expect(await readFile(path)).toHaveLength(bytes.length);
  await expect(value?.saveTo(directory)).rejects.toMatchObject({
    code: "LOCAL_FILE_FAILED",
    message: `${directory} is a directory. Give the path of the file to write.`,
  });
  await expect(value?.saveTo(join(directory, "absent", "a.png"))).rejects.toMatchObject({
    code: "LOCAL_FILE_FAILED",
  });
  await expect(value?.saveTo("")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("where there are no local files, the error says how to get the bytes", async () => {
  const [value] = await displayed();
  const { getBuiltinModule } = process;
  onTestFinished(() => {
    process.getBuiltinModule = getBuiltinModule;
  });
  Reflect.set(process, "getBuiltinModule", undefined);
  await expect(value?.saveTo("/tmp/a.png")).rejects.toMatchObject({
    code: "LOCAL_FILES_UNAVAILABLE",
    hint: expect.stringContaining("bytes()"),
  });
});
