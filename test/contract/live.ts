import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { processCount } from "../support/process-count.js";

/** What every backend must do with streams in both directions: commands, terminals, watches. */
export function liveSuite(sandbox: () => Sandbox): void {
  const running = async (line: string): Promise<string> =>
    (await sandbox().execute(processCount(line), { language: "bash" })).stdout.trim();

  describe("streams of commands", () => {
    test.each([
      ["text", "one\ntwo\n"],
      ["bytes", new TextEncoder().encode("one\ntwo\n")],
    ])("give a command %s to read", async (_, stdin) => {
      let shown = "";
      const stream = sandbox().commands.stream(["tac"], { stdin });
      for await (const event of stream) if (event.type === "stdout") shown += event.text;
      expect(shown).toBe("two\none\n");
      expect(await stream.result()).toMatchObject({ success: true, terminationReason: "exit" });
    });

    test.each([
      ["cat", "/dev/stdin"],
      ["sh", "-c", "[ -p /dev/stdin ] && cat"],
    ])("get their input from a pipe: %s", async (...argv) => {
      expect((await sandbox().commands.run(argv, { stdin: "in\n" })).stdout).toBe("in\n");
    });

    test("answer what is written to them while they run, and take signals", async () => {
      const stream = sandbox().commands.stream(
        "cat; trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done",
        { stdin: true },
      );
      const seen: string[] = [];
      await stream.write("hello\n");
      for await (const event of stream) {
        if (event.type !== "stdout") continue;
        seen.push(event.text);
        if (event.text === "hello\n") await stream.end();
        if (event.text.includes("ready")) await stream.signal("SIGINT");
      }
      expect(seen.join("")).toBe("hello\nready\ncaught\n");
      expect(await stream.result()).toMatchObject({ success: false, exitCode: 7 });
    });

    test("of a program that is not there end as in a shell, with a message", async () => {
      const stream = sandbox().commands.stream(["no-such-program", "x"]);
      const seen: string[] = [];
      for await (const event of stream) if (event.type === "stderr") seen.push(event.text);
      expect(seen.join("")).toMatch(/^no-such-program: command not found/);
      expect(await stream.result()).toMatchObject({ success: false, exitCode: 127 });
      const live = await sandbox().commands.run(["no-such-program", "x"], { stdin: "input" });
      expect(live).toMatchObject({ exitCode: 127, stderr: expect.stringContaining("command not found") });
    });
  });

  test("commands run in the background by a handle", async () => {
    const job = await sandbox().commands.runBackground("echo $((6 * 7)); echo $NAME >&2", {
      env: { NAME: "n" },
    });
    expect(job.id).toMatch(/^cmd_/);
    expect(await job.wait()).toMatchObject({ status: "completed", success: true });
    expect(await job.output()).toMatchObject({ stdout: "42\n", stderr: "n\n", complete: true });
  });

  describe("terminals", () => {
    test("run what is typed, have a size, and tell how the shell ended", async () => {
      const terminal = await sandbox().terminal.open({ cols: 91, rows: 17 });
      await terminal.write("stty size; exit 3\r");
      let shown = "";
      for await (const text of terminal) shown += text;
      expect(shown).toContain("17 91");
      expect(await terminal.exitCode()).toBe(3);
    });

    test("take another size, and end with all that runs in them", async () => {
      const terminal = await sandbox().terminal.open();
      let shown = "";
      const reading = (async () => {
        for await (const text of terminal) shown += text;
      })();
      reading.catch(() => undefined);
      await terminal.resize({ cols: 60, rows: 20 });
      await terminal.write("stty size; sleep 65499\r");
      await expect.poll(() => shown).toContain("20 60");
      await expect.poll(() => running("sleep 65499")).toBe("1");
      terminal.close();
      await expect(reading).rejects.toMatchObject({ name: "StreamClosedError" });
      await expect.poll(() => running("sleep 65499")).toBe("0");
    });
  });

  describe("watches", () => {
    test("tell of every change from the moment they are ready", async () => {
      await sandbox().files.mkdir("/workspace/watched");
      const watch = sandbox().files.watch("/workspace/watched");
      await watch.ready();
      const run = (line: string) => sandbox().commands.run(line, { workdir: "/workspace/watched" });
      await run("mkdir deep");
      const seen: string[] = [];
      const next: Record<string, string> = {
        "created deep": "echo > deep/new",
        "modified deep/new": "mv deep/new deep/old",
        "renamed deep/old": "rm deep/old",
      };
      for await (const { event, path, oldPath } of watch) {
        const what = `${event} ${path.replace("/workspace/watched/", "")}`;
        // A write may be told twice, if it happens while the first part of it is told.
        if (seen.at(-1) === what) continue;
        seen.push(what);
        if (event === "renamed") expect(oldPath).toBe("/workspace/watched/deep/new");
        if (what === "deleted deep/old") break;
        await run(next[what] ?? "true");
      }
      expect(seen).toEqual([
        "created deep",
        "created deep/new",
        "modified deep/new",
        "renamed deep/old",
        "deleted deep/old",
      ]);
    });

    test("tell of a file that is written first that it is there, then that it has content", async () => {
      await sandbox().files.mkdir("/workspace/written-to");
      await using watch = sandbox().files.watch("/workspace/written-to");
      await watch.ready();
      await sandbox().files.write("/workspace/written-to/new", "text");
      const seen: string[] = [];
      for await (const { event, path } of watch) if (seen.push(`${event} ${path}`) === 2) break;
      expect(seen).toEqual(["created /workspace/written-to/new", "modified /workspace/written-to/new"]);
    });

    test("of what is not there are refused", async () => {
      const watch = sandbox().files.watch("/workspace/no-such-directory");
      await expect(watch.ready()).rejects.toMatchObject({ name: "NotFoundError" });
      const outside = sandbox().files.watch("/etc");
      await expect(outside.ready()).rejects.toMatchObject({ name: "PermissionDeniedError" });
    });
  });

  test("what code displays is typed, and saved as a file", async () => {
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const code = `display({"image/png": "${pixel}"}, raw=True)\ndisplay({"application/json": {"a": [1]}}, raw=True)`;
    const { richOutputs } = await sandbox().execute(code);
    expect(richOutputs.map(({ type }) => type)).toEqual(["image/png", "application/json"]);
    const [image, json] = richOutputs;
    expect(json?.is("application/json") && json.data).toEqual({ a: [1] });
    expect(image?.is("text/html")).toBe(false);
    const directory = await mkdtemp(join(tmpdir(), "displayed-"));
    try {
      await image?.saveTo(join(directory, "pixel.png"));
      expect((await readFile(join(directory, "pixel.png"))).toString("base64")).toBe(pixel);
      const nowhere = image?.saveTo(join(directory, "absent", "pixel.png"));
      await expect(nowhere).rejects.toMatchObject({ code: "LOCAL_FILE_FAILED" });
    } finally {
      await rm(directory, { recursive: true });
    }
  });
}
