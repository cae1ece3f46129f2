import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { PNG } from "pngjs";
import { decode } from "sixel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";

const run = promisify(execFile);
const terminal = fileURLToPath(new URL("support/terminal.py", import.meta.url));
const main = join(root, "packages/cli/dist/main.js");
const question = "\u001b[c";

let line: CommandLine;
let temporary: string;
beforeAll(async () => {
  line = await startCommandLine(["--pool", "0"]);
  temporary = await mkdtemp(join(tmpdir(), "sixel-"));
});
afterAll(async () => {
  await line?.stop();
  if (temporary !== undefined) await rm(temporary, { recursive: true });
});

/** An image of colours that differ from pixel to pixel, in a size that is no multiple of sixel's six rows. */
function image(): PNG {
  const colours = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 255],
    [0, 0, 0],
    [255, 255, 0],
    [51, 102, 204],
  ];
  const png = new PNG({ width: 37, height: 23 });
  for (let pixel = 0; pixel < 37 * 23; pixel += 1) {
    const [red = 0, green = 0, blue = 0] =
      colours[(pixel * 5 + Math.floor(pixel / 37)) % colours.length] ?? [];
    png.data.set([red, green, blue, 255], pixel * 4);
  }
  return png;
}

/** Runs a program that displays the image, in a terminal with these attributes. */
async function shown(attributes: string, base64 = PNG.sync.write(image()).toString("base64")) {
  const code = `print("before"); display({"image/png": "${base64}"}, raw=True)`;
  const args = [terminal, attributes, process.execPath, main, "run", "--code", code];
  const env = { PATH: process.env.PATH, TERM: "xterm-256color", TMPDIR: temporary, ...line.env };
  const { stderr, stdout } = await run("python3", args, { env, encoding: "latin1", maxBuffer: 1 << 26 });
  return { stdout, stderr };
}

describe("a figure, in a terminal that", () => {
  test("says that it shows sixel, is drawn with the same pixels", async () => {
    const { stderr, stdout } = await shown("62;4;22");
    const drawn = stdout.slice(
      stdout.indexOf("q", stdout.indexOf("\u001bP")) + 1,
      stdout.lastIndexOf("\u001b\\"),
    );
    const { data32, height, width } = decode(Buffer.from(drawn, "latin1"));
    const original = image();
    expect({ width, height }).toEqual({ width: original.width, height: original.height });
    const pixels = new Uint8Array(data32.buffer, data32.byteOffset, width * height * 4);
    // Sixel has colours in percent: a value of 255 is off by at most 2.
    const differences = original.data.map((value, index) => Math.abs(value - (pixels[index] ?? -9)));
    expect(Math.max(...differences)).toBeLessThanOrEqual(2);
    expect({ stderr, isSaved: stdout.includes("figure saved") }).toEqual({ stderr: "raw\n", isSaved: false });
    expect(stdout.indexOf("before")).toBeLessThan(stdout.indexOf(question));
    expect(await readdir(temporary)).toEqual([]);
  });

  test.each([
    ["says that it shows none", "1;2"],
    ["does not answer", "-"],
  ])("%s, is saved", async (_, attributes) => {
    const { stdout } = await shown(attributes);
    expect(stdout).not.toContain("\u001bP");
    expect(stdout).toMatch(/figure saved in .*figure-1\.png/);
    await rm(join(temporary, (await readdir(temporary))[0] ?? ""), { recursive: true });
  });

  test("shows sixel is saved if it is no valid image", async () => {
    const { stdout } = await shown("62;4", "iVBORw0KGgoAAAA=");
    expect(stdout).toMatch(/figure saved in .*figure-1\.png/);
    await rm(join(temporary, (await readdir(temporary))[0] ?? ""), { recursive: true });
  });
});

test("no terminal is asked for what it can do if no figure is displayed, or if the output goes elsewhere", async () => {
  const env = { PATH: process.env.PATH, TERM: "xterm-256color", ...line.env };
  const plain = [terminal, "62;4", process.execPath, main, "run", "--code", "print(1)"];
  expect((await run("python3", plain, { env })).stdout).not.toContain(question);
  const base64 = PNG.sync.write(image()).toString("base64");
  const code = `display({"image/png": "${base64}"}, raw=True)`;
  const piped = `"$0" "$1" run --code '${code}' | cat`;
  const args = [terminal, "62;4", "sh", "-c", piped, process.execPath, main];
  const { stdout } = await run("python3", args, { env });
  expect(stdout).not.toContain(question);
  expect(stdout).toContain("--save-plots");
});
