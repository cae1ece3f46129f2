import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { errorFrame, now } from "@cloud-sandbox/server-kit/handlers";
import { type Operation, Problem, readClientFrame } from "@cloud-sandbox/server-kit/portable";
import type { MemoryFiles } from "../memory/memory-files.js";
import type { ServerSocket } from "../memory/memory-socket.js";
import { isWithin } from "../memory/posix-path.js";
import { servedPath } from "./file-handlers.js";

/** Serves a WebSocket that watches directories, including everything below them. */
export function attendWatch(socket: ServerSocket, operation: Operation, files: MemoryFiles): void {
  const watched = new Set<string>();
  const isWatched = (path: string): boolean =>
    [...watched].some((root) => path !== root && isWithin(path, root));

  socket.receive((text) => {
    try {
      const frame = readClientFrame<AgentSchemas["WatchClientFrame"]>(text, operation);
      const path = servedPath(frame.path);
      if (frame.action === "unwatch") {
        watched.delete(path);
        return;
      }
      if (!files.stat(path).isDirectory)
        throw new Problem(400, "INVALID_PATH", `${path} exists and is not a directory.`, {
          details: { path },
        });
      watched.add(path);
      if (frame.ready) socket.send({ type: "ready", path, timestamp: now() });
    } catch (error) {
      socket.send(errorFrame(error));
    }
  });

  const leave = files.listen(({ event, path, oldPath }) => {
    if (!isWatched(path)) return;
    const from = oldPath !== undefined && { old_path: oldPath };
    socket.send({ type: "change", path, event, ...from, timestamp: now() });
  });
  socket.closed.addEventListener("abort", leave);
}
