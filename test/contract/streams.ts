import type { Sandbox, SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { processCount } from "../support/process-count.js";
import { noText, noTextBytes } from "./suite-programs.js";

/** What every backend must do with programs whose output is streamed. */
export function streamSuite(client: () => SandboxClient, sandbox: () => Sandbox): void {
  /** How many programs with this command line run in the sandbox. */
  const running = async (line: string): Promise<string> =>
    (await sandbox().execute(processCount(line), { language: "bash" })).stdout.trim();

  describe("streams of executions", () => {
    test("tell what is written when it is written, and how it ended", async () => {
      const code =
        "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr, flush=True)\ninput_ = 6 * 7\ninput_";
      const texts = { stdout: "", stderr: "" };
      const stream = sandbox().executeStream(code, { env: { A: "1" } });
      for await (const event of stream) if ("text" in event) texts[event.type] += event.text;
      expect(texts).toEqual({ stdout: "out\n", stderr: "err\n" });
      const result = await stream.result();
      expect(result).toMatchObject({ success: true, exitCode: 0, terminationReason: "exit", value: "42" });
      expect((await sandbox().execute("input_")).value).toBe("42");
    });

    test("come while the program runs", async () => {
      const code = "echo first; until [ -e /tmp/stream-on ]; do sleep 0.02; done; echo last; exit 3";
      const seen: string[] = [];
      for await (const event of sandbox().executeStream(code, { language: "bash" })) {
        if (event.type === "stdout") seen.push(event.text);
        if (event.type === "result") seen.push(String(event.result.exitCode));
        if (seen.length === 1) await sandbox().files.write("/tmp/stream-on", "");
      }
      expect(seen).toEqual(["first\n", "last\n", "3"]);
    });

    test("hold everything, however much it is and however slowly it is read", async () => {
      let length = 0;
      let isFirst = true;
      const code = "import sys\nfor _ in range(50_000): sys.stdout.write('x' * 99 + '\\n')";
      for await (const event of sandbox().executeStream(code)) {
        if (event.type === "stdout") length += event.text.length;
        if (isFirst) await new Promise((resolve) => setTimeout(resolve, 300));
        isFirst = false;
      }
      expect(length).toBe(5_000_000);
    });

    test("pass on bytes that are no text", async () => {
      const streams = [
        sandbox().executeStream(noText, { language: "bash" }),
        sandbox().commands.stream(noText),
        (await sandbox().executeBackground(noText, { language: "bash" })).follow(),
        client().executeIsolatedStream(noText, { language: "bash" }),
      ];
      for (const stream of streams) {
        const pieces: Uint8Array[] = [];
        let text = "";
        for await (const event of stream) {
          if (event.type !== "stdout") continue;
          pieces.push(event.raw ?? new TextEncoder().encode(event.text));
          text += event.text;
        }
        expect(Buffer.concat(pieces)).toEqual(noTextBytes);
        expect(text).toBe("é\ufffd\0\ufffd(\n");
      }
      const job = await sandbox().commands.runBackground(noText);
      await job.wait();
      const { stderrRaw, stdoutRaw } = await job.output();
      expect([stderrRaw, Buffer.from(stdoutRaw ?? [])]).toEqual([undefined, noTextBytes]);
    });

    test.each<
      [string, (stop: AbortController, stream: AsyncDisposable & { kill(): Promise<void> }) => unknown]
    >([
      ["their signal", (stop) => stop.abort()],
      ["kill()", (_, stream) => stream.kill()],
      ["disposal", (_, stream) => stream[Symbol.asyncDispose]()],
    ])("end the program with %s", async (_, end) => {
      const stop = new AbortController();
      const stream = sandbox().executeStream("sleep 76543", { language: "bash", signal: stop.signal });
      const result = stream.result().then(
        ({ terminationReason }) => terminationReason,
        (error: Error) => error.name,
      );
      await expect.poll(() => running("sleep 76543")).toBe("1");
      await end(stop, stream);
      expect(await result).toMatch(/^(killed|AbortError|StreamClosedError)$/);
      await expect.poll(() => running("sleep 76543")).toBe("0");
    });

    test("refuse what cannot run", async () => {
      const stream = sandbox().executeStream("1", { language: "cobol" });
      await expect(stream.result()).rejects.toMatchObject({ name: "ValidationError" });
    });
  });

  describe("executions in the background", () => {
    test("are followed, waited for and listed by their handles", async () => {
      const code = "import time\nfor n in range(3): print(n, flush=True); time.sleep(1)\nraise SystemExit(4)";
      const job = await sandbox().executeBackground(code, { name: "counting", timeoutSeconds: 60 });
      expect(await job.status()).toMatchObject({ id: job.id, status: "running", name: "counting" });
      let text = "";
      for await (const event of job.follow()) text += event.text;
      expect(text).toBe("0\n1\n2\n");
      expect(await job.wait()).toMatchObject({ status: "failed", success: false, exitCode: 4 });
      expect(await job.output({ stdoutOffset: 2, limit: 16 })).toMatchObject({
        stdout: "1\n2\n",
        stdoutOffset: 6,
        complete: true,
      });
      const again = sandbox().processes.get(job.id);
      expect(await again.status()).toMatchObject({ status: "failed", exitCode: 4 });
      expect((await sandbox().processes.list()).map(({ id }) => id)).toContain(job.id);
    });

    test("end when they are killed, and not when nobody waits any more", async () => {
      const job = await sandbox().executeBackground("sleep 87654", { language: "bash" });
      const stop = new AbortController();
      const waiting = job.wait({ signal: stop.signal });
      await expect.poll(() => running("sleep 87654")).toBe("1");
      stop.abort();
      await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
      expect(await running("sleep 87654")).toBe("1");
      const ended = job.wait();
      await job.kill();
      expect(await ended).toMatchObject({ status: "killed", success: false });
      await sandbox().processes.kill(job.id);
      await expect(sandbox().processes.get("proc_none").wait()).rejects.toMatchObject({
        name: "NotFoundError",
      });
      await expect(sandbox().processes.get("proc_none").status()).rejects.toMatchObject({
        name: "NotFoundError",
      });
    });

    test("of the foreground may come from the cache, and have contexts", async () => {
      const code = "import random; print(random.random())";
      const first = await sandbox().execute(code, { cache: true });
      expect(await sandbox().execute(code, { cache: true })).toMatchObject({
        stdout: first.stdout,
        cached: true,
      });
      await sandbox().execute("here = 5", { context: "streams" });
      expect((await sandbox().execute("here", { context: "streams" })).value).toBe("5");
      expect((await sandbox().execute("'here' in globals()")).value).toBe("False");
    });
  });
}
