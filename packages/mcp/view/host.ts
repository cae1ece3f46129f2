/** The connection to the host that shows this view: JSON-RPC over postMessage, as MCP Apps define it. */

export interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly content?: readonly Readonly<Record<string, unknown>>[];
}

interface HostContext {
  readonly theme?: "light" | "dark";
  readonly styles?: { readonly variables?: Readonly<Record<string, string>> };
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

export interface HostListener {
  onInput(args: Readonly<Record<string, unknown>>): void;
  onResult(result: ToolResult): void;
  onCancelled(): void;
}

export class Host {
  readonly #waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  #lastId = 0;
  #capabilities: Readonly<Record<string, unknown>> = {};

  /** Whether the view may call the server's tools. */
  get hasTools(): boolean {
    return this.#capabilities.serverTools !== undefined;
  }

  async connect(listener: HostListener): Promise<void> {
    addEventListener("message", ({ source, data }: MessageEvent<Message>) => {
      // Accept messages only from the host: frames that show a sandbox's HTML could send messages too.
      if (source === parent && data?.jsonrpc === "2.0") this.#receive(data, listener);
    });
    const { hostContext, hostCapabilities } = (await this.#request("ui/initialize", {
      appInfo: { name: "cloud-sandbox", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: "2026-01-26",
    })) as { hostContext?: HostContext; hostCapabilities?: Readonly<Record<string, unknown>> };
    this.#capabilities = hostCapabilities ?? {};
    applyContext(hostContext ?? {});
    this.#notify("ui/notifications/initialized", {});
    new ResizeObserver(() => {
      const { scrollWidth: width, scrollHeight: height } = document.body;
      this.#notify("ui/notifications/size-changed", { width, height });
    }).observe(document.body);
  }

  async callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult> {
    return (await this.#request("tools/call", { name, arguments: args })) as ToolResult;
  }

  /** Sends a message to the conversation in the name of the user. */
  async say(text: string): Promise<void> {
    await this.#request("ui/message", { role: "user", content: { type: "text", text } });
  }

  #receive(message: Message, listener: HostListener): void {
    const { id, method, params = {} } = message;
    if (method === undefined) this.#settle(message);
    else if (method === "ui/notifications/tool-input")
      listener.onInput((params.arguments ?? {}) as Readonly<Record<string, unknown>>);
    else if (method === "ui/notifications/tool-result") listener.onResult(params as ToolResult);
    else if (method === "ui/notifications/tool-cancelled") listener.onCancelled();
    else if (method === "ui/notifications/host-context-changed") applyContext(params as HostContext);
    // Answer all other requests of the host (ping, teardown) with an empty result.
    if (method !== undefined && id !== undefined) this.#post({ id, result: {} });
  }

  #settle({ id, result, error }: Message): void {
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message ?? "The host refused."));
  }

  #request(method: string, params: unknown): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ id, method, params });
    });
  }

  #notify(method: string, params: unknown): void {
    this.#post({ method, params });
  }

  /**
   * Sends a message to the host. The target origin is "*" because a view does not know the host's; messages contain no
   * secrets.
   */
  #post(message: object): void {
    parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}

function applyContext({ theme, styles }: HostContext): void {
  const { style } = document.documentElement;
  if (theme !== undefined) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (name.startsWith("--")) style.setProperty(name, value);
}
