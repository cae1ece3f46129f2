import { existsSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AgentCalls } from "../../src/agents/agent-calls.js";
import type { DiskTarget } from "../../src/runtime/sandbox-runtime.js";
import { SandboxFiles } from "../../src/saved/sandbox-files.js";
import { newMachine } from "../support/lifecycle-rig.js";

const limits = { memoryMb: 64, diskMb: 64, vcpu: 1, maxProcesses: 64 };

/** Writes the disk of a machine, and notes each time that it is frozen, or goes on. */
async function writeDisk({
  isPaused = false,
  isLive = true,
  disk = async ({ descriptor }: DiskTarget): Promise<void> => void writeSync(descriptor, "tar"),
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), "files-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "saved");
  const events: string[] = [];
  const note = (event: string) => async () => {
    events.push(existsSync(path) ? `${event} when the file is there` : event);
  };
  const machine = newMachine("m", {
    isPaused,
    pause: note("frozen"),
    resume: note("goes on"),
    writeDisk: disk,
  });
  const files = new SandboxFiles(async () => directory, {} as AgentCalls);
  const written = files.write(machine, path, limits, { signal: AbortSignal.timeout(10_000), isLive });
  return { path, events, written };
}

describe("a machine whose disk is saved", () => {
  test("goes on before the file is complete on the host's disk", async () => {
    const { path, events, written } = await writeDisk();
    expect(await written).toEqual({ path, isDisk: true });
    expect(await readFile(path, "utf8")).toBe("tar");
    expect(events.slice(0, 2)).toEqual(["frozen", "goes on"]);
  });

  test("goes on when its disk cannot be read, and leaves nothing", async () => {
    const broken = async () => {
      throw new Error("unreadable");
    };
    const { path, events, written } = await writeDisk({ disk: broken });
    await expect(written).rejects.toThrow("unreadable");
    expect(events).toEqual(["frozen", "goes on"]);
    expect([path, `${path}.partial`].filter(existsSync)).toEqual([]);
  });

  test.each([
    ["it is paused", { isPaused: true }],
    ["it is being stopped", { isLive: false }],
  ])("stays frozen if %s", async (_, how) => {
    const { events, written } = await writeDisk(how);
    await written;
    expect(events).toEqual(["frozen"]);
  });
});
