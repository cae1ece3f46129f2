import { once } from "node:events";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import { unlessAborted } from "@cloud-sandbox/server-kit";
import type Docker from "dockerode";
import { inside } from "../../container/paths.js";
import { joinSockets } from "../../host/joined-sockets.js";
import { directoryItself, entryItself, openBelow, pathOf } from "../../host/open-below.js";

const inspectLimitMs = 5000;

/**
 * The socket of the agent in a container of this machine, reached through the container's file system: through the Docker daemon
 * each byte is copied four times more. Only root may, and only of a daemon on this machine.
 */
export class AgentSocket {
  #directory: Promise<FileHandle | undefined> | undefined;
  /** Attempts that are under way: the directory's descriptor must stay theirs. */
  readonly #attempts = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(
    private readonly container: Docker.Container,
    /** Whether the container's files are this machine's. */
    private readonly isOfHost: boolean,
  ) {}

  /** Joins a caller with the agent. If it must be reached through the daemon, or does not listen now, `otherwise` does. */
  join(caller: Socket, otherwise: () => void): void {
    caller.on("error", () => caller.destroy());
    const attempt = this.#connect().then((agent) => {
      this.#attempts.delete(attempt);
      if (!agent) otherwise();
      else if (caller.destroyed) agent.destroy();
      else joinSockets(caller, agent);
    });
    this.#attempts.add(attempt);
  }

  async #connect(): Promise<Socket | undefined> {
    this.#directory ??= this.#open();
    const directory = await this.#directory;
    if (!directory || this.#isClosed) return undefined;
    // If something else has taken the socket's place, such as a link to a socket of this machine, nothing is connected to.
    const entry = await open(`${pathOf(directory)}/${basename(inside.agentSocket)}`, entryItself).catch(
      () => undefined,
    );
    if (!entry) return undefined;
    try {
      const socket = createConnection({ path: pathOf(entry), allowHalfOpen: true }).unref();
      await once(socket, "connect");
      return socket;
    } catch {
      return undefined;
    } finally {
      await entry.close();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#attempts);
    await (await this.#directory)?.close();
  }

  /** Opens the directory of the socket. Undefined if that is not possible; then it is not tried again. */
  async #open(): Promise<FileHandle | undefined> {
    if (process.platform !== "linux" || !this.isOfHost) return undefined;
    try {
      const limit = AbortSignal.timeout(inspectLimitMs);
      const { State } = await unlessAborted(this.container.inspect({ abortSignal: limit }), limit);
      const process = await open(`/proc/${State.Pid}`, directoryItself);
      try {
        // The number may be one of another machine.
        const groups = await readFile(`${pathOf(process)}/cgroup`, "utf8");
        if (!groups.includes(this.container.id)) return undefined;
        const [, first = "", ...names] = dirname(inside.agentSocket).split("/");
        return await openBelow(`${pathOf(process)}/root/${first}`, names);
      } finally {
        await process.close();
      }
    } catch {
      return undefined;
    }
  }
}
