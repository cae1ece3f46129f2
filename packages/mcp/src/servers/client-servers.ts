/** The servers of one client: each runs in a sandbox of its own from its first use until nobody has used it for a while. */
import type { CallToolResult, ResultTypeMap, Tool } from "@modelcontextprotocol/server";
import { ServerFailure } from "../errors/errors.js";
import { instead } from "../errors/similar-names.js";
import { detachAfter } from "../settings.js";
import { type Reach, reachOf } from "./configured-server.js";
import { endsServer, failureOf } from "./failures.js";
import type {
  OtherLists,
  RelayedMethod,
  RelayedParams,
  RunningServer,
  ServerCall,
} from "./running-server.js";
import type { ServerOwner, ServerRegistry } from "./server-registry.js";
import { ServerSlot } from "./server-slot.js";

/** A server as it is listed: without its command and its variables, which may have secrets. */
export interface ServerSummary {
  readonly name: string;
  readonly description?: string;
  readonly internet: Reach;
  readonly status: "running" | "starting" | "stopped";
}

/** Seconds that a server may take to list its tools or to read a resource. */
const listSeconds = 60;
/** Seconds to list the tools of a server that did not answer a call. If it does not, it counts as dead. */
const signOfLifeSeconds = 2;

export class ClientServers {
  readonly #servers: ServerRegistry;
  readonly #owner: ServerOwner;
  readonly #slots = new Map<string, ServerSlot>();
  #isClosed = false;
  /** The tools of running servers. */
  readonly #tools = new WeakMap<ServerSlot, Promise<Tool[]>>();

  constructor(servers: ServerRegistry, owner: ServerOwner) {
    this.#servers = servers;
    this.#owner = owner;
  }

  list(): ServerSummary[] {
    return this.#servers.configurations.map((configuration) => {
      const { description, name } = configuration;
      const slot = this.#slots.get(name);
      return {
        name,
        ...(description !== undefined && { description }),
        internet: reachOf(configuration),
        status: slot === undefined ? "stopped" : slot.isRunning ? "running" : "starting",
      };
    });
  }

  /** The tools of a server, which is started for that. */
  tools(server: string, call: ServerCall): Promise<Tool[]> {
    return this.#use(server, "tools/list", call, (running, slot) => this.#toolsOf(running, slot, call));
  }

  /**
   * Calls a tool. Resolves with the tool's result, even if the tool failed. Throws a {@link ServerFailure} if the server or
   * the tool does not exist, and if the server cannot be started or used.
   */
  call(
    server: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    call: ServerCall,
    timeoutSeconds: number,
  ): Promise<CallToolResult> {
    return this.#use(server, tool, call, async (running, slot) => {
      await this.#requireTool(server, tool, running, slot, call);
      const report: ServerCall["report"] = (step, measured) => {
        void slot.touch(running);
        call.report(step, measured);
      };
      return running.callTool(tool, args, { ...call, report }, timeoutSeconds);
    });
  }

  /** Returns the prompts or resources that a server lists. The server is started for that. */
  others(server: string, call: ServerCall): Promise<OtherLists> {
    return this.#use(server, "prompts/list", call, (running) => running.listOthers(call));
  }

  /** Passes a request on to a server. Throws a {@link ServerFailure} if the server refuses it. */
  relay<Method extends RelayedMethod>(
    server: string,
    method: Method,
    params: RelayedParams<Method>,
    call: ServerCall,
  ): Promise<ResultTypeMap[Method]> {
    return this.#use(server, method, call, (running) => running.relay(method, params, call));
  }

  /** Ends all servers of the client, for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#slots.values()].map((slot) => slot.close()));
  }

  async #use<Result>(
    name: string,
    what: string,
    call: ServerCall,
    work: (server: RunningServer, slot: ServerSlot) => Promise<Result>,
  ): Promise<Result> {
    const slot = this.#slots.get(name) ?? this.#start(name);
    let isStarted = false;
    const used = slot.use((server) => {
      isStarted = true;
      return work(server, slot).catch(async (error: unknown) => {
        if (call.signal.aborted) throw error;
        if (endsServer(error) || !(await isAlive(server, error))) slot.leave();
        throw error;
      });
    }, call);
    const over = new AbortController();
    try {
      return await Promise.race([used, this.#startLimit(name, slot, () => isStarted, call, over.signal)]);
    } catch (error) {
      throw failureOf(error, { name, what, reach: reachOf(this.#configuration(name)) });
    } finally {
      over.abort();
      used.catch(() => undefined);
    }
  }

  /** Rejects when the caller leaves, or when the start takes so long that clients would give up. The start itself continues. */
  #startLimit(
    name: string,
    slot: ServerSlot,
    isStarted: () => boolean,
    { signal: left, waitsForStart = false }: ServerCall,
    over: AbortSignal,
  ): Promise<never> {
    const seconds = detachAfter(this.#servers.environment);
    return new Promise((_, reject) => {
      const leave = (): void => reject(left.reason);
      if (left.aborted) return leave();
      left.addEventListener("abort", leave, { signal: over });
      if (waitsForStart) return;
      const timer = setTimeout(() => {
        if (!isStarted())
          reject(
            new ServerFailure(
              `Server ${name} is still being started after ${seconds} s (${slot.step}). The start goes on: call again in a moment.`,
            ),
          );
      }, seconds * 1000);
      over.addEventListener("abort", () => clearTimeout(timer));
    });
  }

  #start(name: string): ServerSlot {
    if (this.#isClosed) throw new ServerFailure("The client has left, so no MCP server is started for it.");
    const configuration = this.#configuration(name);
    const slot = new ServerSlot({
      configuration,
      owner: this,
      start: (events) => this.#servers.start(configuration, this.#owner, events),
      onGone: (gone) => {
        this.#servers.delete(gone);
        if (this.#slots.get(name) === gone) this.#slots.delete(name);
      },
      onListChange: () => {
        this.#tools.delete(slot);
        this.#servers.listsChanged(name, this);
      },
    });
    this.#servers.add(slot);
    this.#slots.set(name, slot);
    return slot;
  }

  #configuration(name: string) {
    const found = this.#servers.configurations.find((configuration) => configuration.name === name);
    if (found !== undefined) return found;
    const names = this.#servers.configurations.map((configuration) => configuration.name);
    throw new ServerFailure(`There is no server "${name.slice(0, 200)}"; ${instead(name, names)}`);
  }

  #toolsOf(running: RunningServer, slot: ServerSlot, call: ServerCall): Promise<Tool[]> {
    const known = this.#tools.get(slot);
    if (known !== undefined) return known;
    const asked = running.listTools(call, listSeconds);
    this.#tools.set(slot, asked);
    asked.catch(() => this.#tools.delete(slot));
    return asked;
  }

  async #requireTool(
    server: string,
    tool: string,
    running: RunningServer,
    slot: ServerSlot,
    call: ServerCall,
  ): Promise<void> {
    const has = async (): Promise<string[] | undefined> => {
      const names = (await this.#toolsOf(running, slot, call)).map(({ name }) => name);
      return names.includes(tool) ? undefined : names.map((name) => name.slice(0, 200));
    };
    if ((await has()) === undefined) return;
    // Fetch the list again: not every server reports that its list has changed.
    this.#tools.delete(slot);
    const names = await has();
    if (names !== undefined)
      throw new ServerFailure(
        `Server ${server} has no tool "${tool.slice(0, 200)}"; ${instead(tool, names)}`,
      );
  }
}

/** Whether a server still works after `error`. If it did not answer in time, asks it for its tools. */
async function isAlive(server: RunningServer, error: unknown): Promise<boolean> {
  if (!(error instanceof Error) || error.name !== "TimeoutError") return true;
  const signal = AbortSignal.timeout(signOfLifeSeconds * 2_000);
  return server.listTools({ signal }, signOfLifeSeconds).then(
    () => true,
    () => false,
  );
}
