import { expect } from "vitest";
import { type Bench, type Proof, proof, success } from "./proof.js";

export const streamProofs: Readonly<Record<string, Proof>> = {
  streamExecution: proof("sends output, the result and always complete", streams("/execute/stream")),
  streamCode: proof("does the same at the short path", streams("/stream")),
  streamIpython: proof("does the same for Python cells", streams("/stream/ipython")),

  streamCommand: proof("streams a command's output", async (bench) => {
    using socket = await bench.socket("/commands/stream");
    socket.send({ command: "echo out; exit 3" });
    await expect.poll(() => socket.frames.at(-1)?.type).toBe("complete");
    expect(socket.text("stdout")).toBe("out\n");
    expect(socket.frames.find(({ type }) => type === "result")).toMatchObject({ exit_code: 3 });
  }),

  openTerminal: proof("is a terminal of the size asked for, and tells the exit code", async (bench) => {
    using socket = await bench.socket("/terminal");
    socket.send({ type: "resize", cols: 100, rows: 30 });
    socket.send({ type: "input", data: "stty size; exit 3\n" });
    await expect.poll(() => socket.closed).toBeDefined();
    expect(socket.text("output")).toContain("30 100");
    expect(socket.frames.at(-1)).toMatchObject({ type: "exit", code: 3 });
  }),

  watchFiles: proof("tells of a change", async (bench) => {
    await success(bench.agent.POST("/files/mkdir", { body: { path: "watched" } }));
    using socket = await bench.socket("/files/watch");
    socket.send({ action: "watch", path: "/workspace/watched" });
    const change = async () => {
      const body = { path: "watched/file", content: String(Date.now()) };
      await success(bench.agent.POST("/files/write", { body }));
      return socket.frames.find(({ path }) => path === "/workspace/watched/file");
    };
    await expect.poll(change, { interval: 200 }).toMatchObject({ type: "change" });
  }),
};

function streams(path: string): (bench: Bench) => Promise<void> {
  return async (bench) => {
    using socket = await bench.socket(path);
    socket.send({ type: "execute", code: "print('out')", language: "python" });
    await expect.poll(() => socket.frames.at(-1)?.type).toBe("complete");
    expect(socket.text("stdout")).toBe("out\n");
    expect(socket.frames.find(({ type }) => type === "result")).toMatchObject({ exit_code: 0 });
  };
}
