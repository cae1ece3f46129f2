/** Lists the tools of other people's servers beside this program's own, as `server__tool`. */
import type { McpServer, RegisteredTool, Tool } from "@modelcontextprotocol/server";
import type { AdditionalTools } from "../server/mcp-server.js";
import { registerTool, type SharedToolParts, type ToolEntry } from "../server/registered-tool.js";
import type { OtherServers } from "../servers/other-servers.js";
import type { ToolSource } from "../servers/server-registry.js";
import { listedNames } from "./tool-names.js";

/** Milliseconds to wait for the tools of starting servers. Later tools are announced as a change of the list. */
const patienceMs = 8_000;

/** A client, and the tools of other servers that are registered for it. */
interface Follower {
  readonly server: McpServer;
  readonly shared: SharedToolParts;
  readonly registered: Map<string, RegisteredTool[]>;
  readonly since: number;
}

export class FirstClassTools implements AdditionalTools {
  readonly #names: readonly string[];
  readonly #log: (line: string) => void;
  /** The tools of each server, which are the same for all clients. */
  readonly #known = new Map<string, readonly Tool[]>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #followers = new Set<Follower>();
  readonly #listeners = new Set<() => void>();

  constructor(servers: OtherServers, names: readonly string[], log: (line: string) => void) {
    this.#names = names;
    this.#log = log;
    servers.onToolsChange((name, owner) => {
      if (this.#names.includes(name)) void this.#ask(name, owner);
    });
  }

  onToolsChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async add(server: McpServer, shared: SharedToolParts, isLasting: boolean): Promise<void> {
    const missing = this.#names.filter((name) => !this.#known.has(name));
    if (missing.length > 0) {
      const asked = Promise.all(missing.map((name) => this.#askFor(name, shared))).then(() => true);
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), patienceMs);
      });
      const isComplete = await Promise.race([asked, enough]).finally(() => clearTimeout(timer));
      if (!isComplete) this.#log("an MCP server is still being started; its tools are listed when it runs");
    }
    const follower: Follower = { server, shared, registered: new Map(), since: performance.now() };
    for (const name of this.#names) this.#register(follower, name);
    if (isLasting) this.#followers.add(follower);
  }

  /** Starts a server for a client, to get the list of its tools. */
  #askFor(name: string, { session }: SharedToolParts): Promise<void> {
    const asking =
      this.#asking.get(name) ??
      session
        .use(async ({ servers }) => {
          if (servers !== undefined) await this.#ask(name, servers);
        })
        .catch((error: unknown) => this.#failed(name, error))
        .finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  async #ask(name: string, servers: ToolSource): Promise<void> {
    const { signal } = new AbortController();
    try {
      this.#known.set(
        name,
        await servers.tools(name, { signal, report: () => undefined, waitsForStart: true }),
      );
    } catch (error) {
      return this.#failed(name, error);
    }
    for (const follower of this.#followers) {
      if (isGone(follower)) this.#followers.delete(follower);
      else this.#register(follower, name);
    }
    for (const listener of this.#listeners) listener();
  }

  #failed(name: string, error: unknown): void {
    this.#log(
      `the tools of MCP server ${name} are not listed: ${error instanceof Error ? error.message : "unknown"}`,
    );
  }

  /** Registers the tools of a server, in place of those that are registered. */
  #register({ registered, server, shared }: Follower, name: string): void {
    for (const old of registered.get(name) ?? []) old.remove();
    const tools = this.#known.get(name) ?? [];
    const names = listedNames(
      name,
      tools.map((tool) => tool.name),
    );
    const added = [...names].flatMap(([own, listed]) => {
      const tool = tools.find((each) => each.name === own);
      return tool === undefined
        ? []
        : [registerTool(server, entryOf(tool, listed), callOf(name, tool), shared)];
    });
    registered.set(name, added);
  }
}

/** Whether a client has disconnected. A client that is not connected yet has 60 s to connect. */
function isGone({ server, since }: Follower): boolean {
  return !server.isConnected() && performance.now() - since > 60_000;
}

function entryOf(
  { annotations = {}, description, inputSchema, outputSchema, title }: Tool,
  name: string,
): ToolEntry {
  return { name, title, description, annotations, inputSchema, outputSchema, isRelayed: true };
}

function callOf(server: string, { name: tool, outputSchema }: Tool): Parameters<typeof registerTool>[2] {
  return async (given, context) => {
    const { callRelayed, mostSeconds } = await import("../tools/mcp-servers.js");
    const args = typeof given === "object" && given !== null ? { ...given } : {};
    const isStructured = outputSchema !== undefined;
    return callRelayed(context, { server, tool, args, timeout: mostSeconds, isStructured });
  };
}
