// @module-tag no-sandboxes
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { root } from "../support/documents/code-blocks.js";

test.each(["--help", "-h", "help"])("%s names the commands", async (word) => {
  expect(await runBuilt("cli", [word])).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringMatching(/^Programs:\n {2}run /m),
  });
});

test.each(["--version", "-V"])("%s prints the version of the package", async (word) => {
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  expect(await runBuilt("cli", [word])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test.each([["run"], ["sandbox exec"]])("help %s prints what --help of the command does", async (command) => {
  const words = command.split(" ");
  const asked = await runBuilt("cli", ["help", ...words]);
  expect(asked.stdout).toContain(`Usage: cloud-sandbox ${command} [options]`);
  expect(asked).toEqual(await runBuilt("cli", [...words, "--help"]));
});

test.each([
  ["nope", "nope"],
  ["sandbox nope", "nope"],
  ["sandbox nope exec", "nope"],
])("help %s fails, because there is no such command", async (command, word) => {
  expect(await runBuilt("cli", ["help", ...command.split(" ")])).toMatchObject({
    code: 125,
    stdout: "",
    stderr: expect.stringContaining(`Unknown command '${word}'`),
  });
});

test("the help of a command has its own options first, then those of every command", async () => {
  const { stdout } = await runBuilt("cli", ["keys", "list", "--help"]);
  expect(stdout).toMatch(/^Options:\n {2}--revoked .*\n(.*\n)*Everywhere:\n(.*\n)* {2}-h, --help /m);
  const login = await runBuilt("cli", ["login", "--help"]);
  expect(login.stdout).not.toContain("Options:");
});

test.each([
  ["cli", "sandbox"],
  ["local", "serve"],
] as const)(
  "the help of %s %s fits into 80 columns, although its terms are long",
  async (program, command) => {
    const { stdout } = await runBuilt(program, [command, "--help"]);
    const described = stdout.split("\n").filter((line) => line.startsWith("  "));
    expect(described.length).toBeGreaterThan(15);
    expect(described.filter((line) => line.length > 80)).toEqual([]);
  },
);
