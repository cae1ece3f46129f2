import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { Tmux } from "./support/tmux.js";

const main = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

let place: string;
let repo: string;
let line: CommandLine;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "changes-"));
  repo = join(place, "repo");
  line = await startCommandLine(["--pool", "0", "--allow-mount", place]);
});
beforeEach(async () => {
  await rm(repo, { recursive: true, force: true });
  await mkdir(repo);
  await writeFile(join(repo, "a.txt"), "one\n");
});
afterAll(async () => {
  await line?.stop();
  await rm(place, { recursive: true, force: true });
});

test("cloud-sandbox diff shows a terminal all that a file has, whatever code wrote to hide it", {
  tags: ["tmux"],
}, async () => {
  const mount = ["--mount", `${repo}:/repo:copy`];
  const id = (await line.output("sandbox", "create", "-q", "--template", "base", ...mount)).trim();
  const hidden = "evil\\033[2K\\033[1A\\rharmless\\ttext\\r\\n";
  await line.output("sandbox", "exec", id, `printf '${hidden}' >> /repo/a.txt`);
  expect(await line.output("diff", id, "/repo/a.txt")).toContain("+evil\x1b[2K\x1b[1A\rharmless\ttext\r\n");
  const tmux = await Tmux.start(`${process.execPath} ${main} diff ${id} /repo/a.txt`, line.env);
  onTestFinished(() => tmux.end());
  await expect
    .poll(() => tmux.screen(), { timeout: 20_000 })
    .toMatch(/^ one\n\+evil�\[2K�\[1A�harmless +text$/m);
  await line.output("sandbox", "delete", id);
});

test("cloud-sandbox diff shows what code changed in a copy, and apply writes what is named", async () => {
  const mount = ["--mount", `${repo}:/repo:copy`];
  const id = (await line.output("sandbox", "create", "-q", "--template", "base", ...mount)).trim();
  await line.output(
    "sandbox",
    "exec",
    id,
    "--",
    "sh",
    "-c",
    "echo two >> /repo/a.txt; echo x > /repo/Makefile",
  );
  expect(await line.output("diff", id)).toMatch(
    /^PATH .*\n\/repo\/Makefile +added +file +2 +may run by itself\n\/repo\/a\.txt +changed +file +8 +-\n$/,
  );
  expect(await line.output("diff", id, "/repo/a.txt")).toContain("@@ -1,1 +1,2 @@\n one\n+two\n");
  const unasked = await line.run(["apply", id]);
  expect(unasked).toMatchObject({ code: 125, stderr: expect.stringContaining("--yes") });
  const checked = await line.run(["apply", id, "--check"]);
  expect(checked).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("added /repo/Makefile (may run by itself)"),
  });
  expect(await readdir(repo)).toEqual(["a.txt"]);
  expect(await line.run(["apply", id, "--yes", "/repo/a.txt"])).toMatchObject({ code: 0, stdout: "" });
  expect([await readdir(repo), await readFile(join(repo, "a.txt"), "utf8")]).toEqual([
    ["a.txt"],
    "one\ntwo\n",
  ]);
  await writeFile(join(repo, "Makefile"), "mine");
  const conflict = await line.run(["apply", id, "--yes"]);
  expect(conflict).toMatchObject({ code: 1, stderr: expect.stringContaining("is not applied (conflict)") });
  await line.output("sandbox", "delete", id);
});

test("cloud-sandbox diff shows what code changed since the template or a snapshot, which apply refuses", async () => {
  const id = (await line.output("sandbox", "create", "-q", "--template", "base")).trim();
  expect(await line.run(["diff", id])).toMatchObject({
    stderr: expect.stringContaining("nothing has changed"),
  });
  await line.output("sandbox", "exec", id, "--", "sh", "-c", "echo one > a.txt");
  await line.output("snapshot", "create", id, "--name", "one");
  await line.output("sandbox", "exec", id, "--", "sh", "-c", "echo two > a.txt");
  expect(await line.output("diff", id)).toMatch(/\n\/workspace\/a\.txt +added +file +4 +-\n$/);
  expect(await line.output("diff", id, "--since", "one")).toMatch(
    /\n\/workspace\/a\.txt +changed +file +4 +-\n$/,
  );
  expect(await line.output("diff", id, "/workspace/a.txt", "--since", "one")).toContain("-one\n+two\n");
  expect(await line.run(["apply", id])).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("This sandbox has no copy of a directory."),
  });
  await line.output("sandbox", "delete", id);
});

test("cloud-sandbox run --work runs in a copy of a directory, without a server, and keeps changes with --yes", async () => {
  const code = "open('made.txt', 'w').write('made'); open('a.txt', 'a').write('two\\n')";
  const run = (...words: string[]) =>
    runBuilt("cli", ["run", "--template", "base", "--work", repo, ...words]);
  const unasked = await run("--code", code);
  expect(unasked).toMatchObject({ code: 125, stderr: expect.stringContaining("--yes") });
  expect(unasked.stderr).toContain("without a server, sandboxes end with the command");
  expect(await readdir(repo)).toEqual(["a.txt"]);
  const kept = await run("--yes", "--code", code);
  expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining("added /workspace/made.txt") });
  expect((await readdir(repo)).sort()).toEqual(["a.txt", "made.txt"]);
  expect(await readFile(join(repo, "a.txt"), "utf8")).toBe("one\ntwo\n");
  expect(await run("--code", "print(open('made.txt').read())")).toEqual({
    code: 0,
    stdout: "made\n",
    stderr: "cloud-sandbox: nothing has changed.\n",
  });
});

describe("cloud-sandbox run --work with a server", () => {
  const kept = /Sandbox (\w+) stays for an hour .*"cloud-sandbox apply \1 \[path\.\.\.\]"/;

  test("keeps the sandbox while it asks, and after a no", { tags: ["tmux"] }, async () => {
    const code = "open('made.txt', 'w').write('made')";
    const words = ["run", "--template", "base", "--timeout", "5", "--work", repo, "--code", `"${code}"`];
    const tmux = await Tmux.start(`${process.execPath} ${main} ${words.join(" ")}`, line.env, {
      columns: 250,
    });
    onTestFinished(() => tmux.end());
    await expect
      .poll(() => tmux.screen(), { timeout: 20_000 })
      .toContain("Apply 1 changes to the directory?");
    const left = async (): Promise<number> => {
      for await (const { expiresAt } of line.client.sandboxes.list())
        return ((expiresAt?.getTime() ?? 0) - Date.now()) / 1000;
      return 0;
    };
    await expect.poll(left, { timeout: 10_000 }).toBeGreaterThan(500);
    await tmux.type("n\r");
    await expect.poll(() => tmux.screen()).toMatch(kept);
    const [, id = ""] = kept.exec(await tmux.screen()) ?? [];
    expect(await left()).toBeGreaterThan(3500);
    expect(await line.run(["apply", id, "--yes"])).toMatchObject({ code: 0 });
    expect((await readdir(repo)).sort()).toEqual(["a.txt", "made.txt"]);
    await line.output("sandbox", "delete", id);
  });

  test("keeps the sandbox for changes of the version control, and says what is applied as JSON", async () => {
    const run = async (code: string) => {
      const words = ["--template", "base", "--work", repo, "--yes", "--json", "--code", code];
      const { stdout, ...rest } = await line.run(["run", ...words]);
      return {
        ...rest,
        events: stdout
          .trim()
          .split("\n")
          .map((text) => JSON.parse(text)),
      };
    };
    const committed = await run("import os; os.mkdir('.git'); open('.git/HEAD', 'w'); open('made.txt', 'w')");
    expect(committed).toMatchObject({
      code: 0,
      events: [
        { type: "result", exitCode: 0 },
        { type: "applied", changes: [{ path: "/workspace/made.txt", status: "applied" }] },
        { type: "kept", sandbox: expect.any(String) },
      ],
    });
    const id: string = committed.events[2].sandbox;
    expect(await line.json("apply", id, "--yes", "/workspace/.git", "/workspace/.git/HEAD")).toHaveLength(2);
    expect(await line.json("apply", id)).toEqual([]);
    expect((await readdir(repo)).sort()).toEqual([".git", "a.txt", "made.txt"]);
    await line.output("sandbox", "delete", id);
    expect((await run("pass")).events).toMatchObject([{ type: "result" }, { type: "applied", changes: [] }]);
  });

  test("refuses a directory that is not there, and another mount in its place", async () => {
    const run = (...words: string[]) => line.run(["run", "--code", "pass", "--work", ...words]);
    expect(await run("/no-such")).toMatchObject({
      code: 125,
      stderr: 'cloud-sandbox: The directory "/no-such" of --work does not exist. Name another one.\n',
    });
    expect(await run(repo, "--mount", "cache:/workspace")).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("both name what is at /workspace"),
    });
  });

  test("keeps the sandbox if something is not applied, and else deletes it", async () => {
    const run = (code: string) =>
      line.run(["run", "--template", "base", "--work", repo, "--yes", "--code", code]);
    const refused = await run("import os; os.symlink('/etc/passwd', 'away')");
    expect(refused).toMatchObject({ code: 125, stderr: expect.stringMatching(kept) });
    const [, id = ""] = kept.exec(refused.stderr) ?? [];
    expect(await line.output("diff", id)).toContain("/workspace/away");
    await line.output("sandbox", "delete", id);
    expect(await run("open('b.txt', 'w')")).toMatchObject({ code: 0 });
    expect(await line.json("sandbox", "list")).toEqual([]);
  });
});

test("--mount refuses a copy of a volume", async () => {
  const { code, stderr } = await line.run(["sandbox", "create", "--mount", "cache:/data:copy"]);
  expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringContaining("is a volume") });
});
