/** Lists the tools, prompts and resources of other people's servers beside this program's own, as `server__name`. */
import type { McpServer, Resource, Tool } from "@modelcontextprotocol/server";
import { relayedUri } from "../results/relayed-result.js";
import type { Additions } from "../server/mcp-server.js";
import { registerTool, type SharedToolParts, type ToolEntry } from "../server/registered-tool.js";
import type { OtherServers } from "../servers/other-servers.js";
import type { OtherLists, ServerCall } from "../servers/running-server.js";
import type { ListSource } from "../servers/server-registry.js";
import { announcePrompts, registerPrompts } from "./listed-prompts.js";
import { registerTemplates } from "./listed-templates.js";
import type { Registered } from "./relaying.js";
import { listedNames, toolPrefix } from "./tool-names.js";

/** Milliseconds to wait for the tools of starting servers. Later tools are announced as a change of the list. */
const longestWaitMs = 8_000;

/** Milliseconds between two requests for the lists of a server that reports changes without end. */
const changePauseMs = 1_000;

/** A client, and what is registered for it of other servers. */
interface Follower {
  readonly server: McpServer;
  readonly shared: SharedToolParts;
  readonly registered: Map<string, Registered[]>;
  readonly since: number;
}

/** The tools, prompts, resources and templates that a server lists. */
interface Known extends OtherLists {
  readonly tools: readonly Tool[];
}

export class FirstClassServers implements Additions {
  readonly #names: readonly string[];
  readonly #log: (line: string) => void;
  /** The lists of each server, which are the same for all clients. */
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<void>>();
  /** The servers that are asked after a change, and where to ask once more because of a later change. */
  readonly #changed = new Map<string, ListSource | undefined>();
  readonly #followers = new Set<Follower>();
  readonly #listeners = new Set<() => void>();

  constructor(servers: OtherServers, names: readonly string[], log: (line: string) => void) {
    this.#names = names;
    this.#log = log;
    servers.onListChange((name, owner) => {
      if (this.#names.includes(name)) void this.#askAfterChange(name, owner);
    });
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The resources of all servers, as this program lists and reads them. */
  async *resources(): AsyncGenerator<Resource> {
    for (const name of this.#names)
      for (const resource of this.#known.get(name)?.resources ?? [])
        yield {
          ...resource,
          uri: relayedUri(name, resource.uri),
          name: `${toolPrefix(name)}${resource.name}`,
        };
  }

  async add(server: McpServer, shared: SharedToolParts, isLasting: boolean): Promise<void> {
    announcePrompts(server);
    const missing = this.#names.filter((name) => !this.#known.has(name));
    if (missing.length > 0) {
      const asked = Promise.all(missing.map((name) => this.#askFor(name, shared))).then(() => true);
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), longestWaitMs);
      });
      const isComplete = await Promise.race([asked, enough]).finally(() => clearTimeout(timer));
      if (!isComplete) this.#log("an MCP server is still being started; its tools are listed when it runs");
    }
    const follower: Follower = { server, shared, registered: new Map(), since: performance.now() };
    for (const name of this.#names) this.#register(follower, name);
    if (isLasting) this.#followers.add(follower);
  }

  /** Starts a server for a client, to get its lists. */
  #askFor(name: string, { session }: SharedToolParts): Promise<void> {
    const asking =
      this.#asking.get(name) ??
      session
        .use(async ({ servers }) => {
          if (servers !== undefined) await this.#ask(name, servers);
        })
        .catch((error: unknown) => this.#failed(`tools of MCP server ${name}`, error))
        .finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  /** Asks for the lists again. Changes that a server reports meanwhile are asked for once, after a pause. */
  async #askAfterChange(name: string, source: ListSource): Promise<void> {
    const isAsking = this.#changed.has(name);
    this.#changed.set(name, source);
    if (isAsking) return;
    // An answer to an earlier question must not come later.
    await this.#asking.get(name);
    for (let next: ListSource | undefined = source; next !== undefined; next = this.#changed.get(name)) {
      this.#changed.set(name, undefined);
      await this.#ask(name, next);
      await new Promise((resolve) => setTimeout(resolve, changePauseMs).unref());
    }
    this.#changed.delete(name);
  }

  async #ask(name: string, servers: ListSource): Promise<void> {
    const { signal } = new AbortController();
    const call: ServerCall = { signal, report: () => undefined, waitsForStart: true };
    try {
      const tools = await servers.tools(name, call);
      const others = await servers.others(name, call).catch((error: unknown) => {
        this.#failed(`prompts and resources of MCP server ${name}`, error);
        return noOthers;
      });
      this.#known.set(name, { tools, ...others });
    } catch (error) {
      return this.#failed(`tools of MCP server ${name}`, error);
    }
    for (const follower of this.#followers) {
      if (isGone(follower)) this.#followers.delete(follower);
      else this.#register(follower, name);
    }
    for (const listener of this.#listeners) listener();
  }

  #failed(what: string, error: unknown): void {
    this.#log(`the ${what} are not listed: ${error instanceof Error ? error.message : "unknown"}`);
  }

  /** Registers what a server lists, in place of what is registered. */
  #register({ registered, server, shared }: Follower, name: string): void {
    for (const old of registered.get(name) ?? []) old.remove();
    const { tools, ...others } = this.#known.get(name) ?? { tools: [], ...noOthers };
    registered.set(name, [
      ...registerTools(server, name, tools, shared),
      ...registerPrompts(server, name, others, shared),
      ...registerTemplates(server, name, others, shared),
    ]);
    server.sendResourceListChanged();
  }
}

const noOthers: OtherLists = { prompts: [], resources: [], resourceTemplates: [], completes: false };

function registerTools(
  server: McpServer,
  name: string,
  tools: readonly Tool[],
  shared: SharedToolParts,
): Registered[] {
  const names = listedNames(
    name,
    tools.map((tool) => tool.name),
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return [...names].flatMap(([own, listed]) => {
    const tool = byName.get(own);
    return tool === undefined
      ? []
      : [registerTool(server, entryOf(tool, listed), callOf(name, tool), shared)];
  });
}

/** Whether a client has disconnected. A client that is not connected yet has 60 s to connect. */
function isGone({ server, since }: Follower): boolean {
  return !server.isConnected() && performance.now() - since > 60_000;
}

function entryOf(
  { annotations = {}, description, inputSchema, outputSchema, title }: Tool,
  name: string,
): ToolEntry {
  return {
    name,
    title,
    description,
    annotations,
    inputSchema: () => inputSchema,
    outputSchema: outputSchema && (() => outputSchema),
    isRelayed: true,
  };
}

function callOf(server: string, { name: tool, outputSchema }: Tool): Parameters<typeof registerTool>[2] {
  return async (received, context) => {
    const { callRelayed, mostSeconds } = await import("../tools/mcp-servers.js");
    const args = typeof received === "object" && received !== null ? { ...received } : {};
    const isStructured = outputSchema !== undefined;
    return callRelayed(context, { server, tool, args, timeout: mostSeconds, isStructured });
  };
}
