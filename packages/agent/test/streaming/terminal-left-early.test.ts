import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import type { FrameChannel } from "../../src/streaming/frame-channel.js";
import { TerminalSession } from "../../src/streaming/terminal-session.js";
import { eventually } from "../support/eventually.js";
import { processesWith } from "../support/processes.js";

type Channel = Parameters<TerminalSession["attach"]>[0];
type Operation = ConstructorParameters<typeof TerminalSession>[1]["operation"];

test.each(["before", "after"])(
  "a client that goes away %s its terminal was opened leaves no shell",
  async (when) => {
    const directory = await mkdtemp(join(tmpdir(), "left-early-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const shell = join(directory, "shell");
    await writeFile(shell, `#!/bin/sh\ntouch "${directory}/ran"\nexec sleep 1000\n`);
    await chmod(shell, 0o755);
    const left = new AbortController();
    if (when === "before") left.abort();
    const channel: Pick<
      FrameChannel<object>,
      "closed" | "closeCode" | "finish" | "receive" | "send" | "pauseFor"
    > = {
      closed: left.signal,
      closeCode: 1006,
      receive: () => undefined,
      send: async () => undefined,
      pauseFor: () => undefined,
      finish: async () => undefined,
    };
    const env = { PATH: process.env.PATH ?? "", LEFT_EARLY: directory };
    const place = { shell, cwd: directory, env, cols: 80, rows: 24 };
    const operation = Object.create(null) as Operation;
    new TerminalSession(place, { operation, reconnectMs: 0 }).attach(channel as Channel);
    // If the client left before the terminal was open, there may be no shell to wait for.
    if (when === "after") {
      await eventually("the shell runs", () => processesWith(directory).length > 1);
      left.abort();
    }
    await eventually("nothing of it runs", () => processesWith(directory).length === 0);
  },
);
