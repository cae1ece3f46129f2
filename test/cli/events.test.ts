import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";
import { Tmux } from "./support/tmux.js";

const main = join(root, "packages/cli/dist/main.js");
let line: CommandLine;

beforeAll(async () => {
  line = await startCommandLine(["--previews", "private"]);
});
afterAll(() => line?.stop());

/** Starts a command that prints until it is interrupted. */
function following(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...line.env } });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (text) => lines.push(text));
  return {
    lines,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await new Promise((resolve) => child.once("close", resolve));
    },
  };
}

describe("cloud-sandbox events", () => {
  test("prints what happens, for people and for programs", async () => {
    const id = (await line.output("sandbox", "create", "-q", "--name", "told", "--template", "base")).trim();
    await line.output("sandbox", "exec", "told", "true");
    await using people = following("events", "--since", "0", "--sandbox", id);
    await expect.poll(() => people.lines.length).toBeGreaterThanOrEqual(3);
    expect(people.lines[0]).toMatch(new RegExp(`sandbox\\.created +${id} +told$`));
    await using programs = following("events", "--since", "0", "--type", "sandbox.created", "--json");
    await expect.poll(() => programs.lines.length).toBe(1);
    expect(JSON.parse(programs.lines[0] ?? "")).toMatchObject({ type: "sandbox.created", sandboxId: id });
    const wrong = await line.run(["events", "--type", "sandbox.sold"]);
    expect(wrong).toMatchObject({ code: 125, stderr: expect.stringContaining("sandbox.failed") });
  });
});

describe("cloud-sandbox sandbox link", () => {
  test("prints links to ports and files, and revokes them", async () => {
    const id = (await line.output("sandbox", "create", "-q", "--template", "base")).trim();
    await line.output("sandbox", "exec", id, "echo linked > note");
    const download = (await line.output("sandbox", "link", id, "note", "--expires", "5m")).trim();
    expect(await (await fetch(download)).text()).toBe("linked\n");
    const upload = (await line.output("sandbox", "link", id, "sent", "--upload")).trim();
    expect((await fetch(upload, { method: "PUT", body: "sent" })).status).toBe(200);
    expect(await line.output("cat", `${id}:sent`)).toBe("sent");
    expect(await line.output("sandbox", "link", id, "8000")).toMatch(/^http:\/\/8000-.*\?sandbox_link=/);
    await line.run(["sandbox", "link", id, "--revoke"]);
    expect((await fetch(download)).status).toBe(401);
  });
});

describe("cloud-sandbox egress --ask", () => {
  test("asks on the terminal, and tells the server what was answered", { tags: ["tmux"] }, async () => {
    const id = (await line.output("sandbox", "create", "-q", "--template", "base", "--ask")).trim();
    const tmux = await Tmux.start(`${process.execPath} ${main} egress ${id} --ask`, line.env);
    onTestFinished(() => tmux.end());
    await expect.poll(() => tmux.screen()).toContain("waiting for hosts");
    const asking = line.run(["sandbox", "exec", id, "curl -sS https://held.test/"]);
    await expect.poll(() => tmux.screen()).toContain("held.test:443?");
    await tmux.type("v\r");
    expect((await asking).stderr).toContain("403");
    const sandbox = await line.client.sandboxes.get(id);
    expect((await sandbox.egress.get()).deny).toEqual(["held.test:443"]);
  });

  test("needs a terminal to ask on", async () => {
    const id = (await line.output("sandbox", "create", "-q", "--template", "base", "--ask")).trim();
    const { code, stderr } = await line.run(["egress", id, "--ask"]);
    expect([code, stderr]).toEqual([125, expect.stringContaining("no terminal")]);
  });
});
