import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { answerUnreadableRequests, ignoreUpgrade, Problem } from "@cloud-sandbox/protocol/server";
import { AccountKey } from "./control-plane/account-key.js";
import { controlPlaneApi } from "./control-plane/control-plane-api.js";
import { SandboxFleet } from "./control-plane/sandbox-fleet.js";
import type { SandboxRecord } from "./control-plane/sandbox-record.js";
import { TemplateCatalogue } from "./control-plane/template-catalogue.js";
import { TokenIssuer } from "./control-plane/token-issuer.js";
import { EgressGateway } from "./egress/egress-gateway.js";
import { type EgressOptions, operatorRules } from "./egress/egress-options.js";
import { AgentGateway } from "./gateway/agent-gateway.js";
import { agentPath, agentTarget, envelopeAt } from "./gateway/agent-target.js";
import { PortUnavailableError, RuntimeUnavailableError } from "./local-errors.js";
import { BubblewrapRuntime } from "./runtime/bubblewrap-runtime.js";
import type { IsolationLevel, MachineLimits } from "./runtime/sandbox-runtime.js";
import { openStore, type Store } from "./store/store.js";
import { version } from "./version.js";

export interface LocalControlPlaneOptions {
  /** The key that callers present. Default: a random one, in the result's `apiKey`. */
  readonly apiKey?: string;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Port to listen on; 0 takes any free one. Default: 0. */
  readonly port?: number;
  /** Machines kept booted for sandboxes to come (about 45 MB each, most of it shared). Default: 1. */
  readonly pool?: number;
  /** Sandboxes at a time; a create beyond is refused with 429. Default: 64. */
  readonly maxSandboxes?: number;
  /** What each sandbox may use. Default: 1024 MiB of memory, 1024 MiB of disk, 2 CPUs (or all there are), 256 processes. */
  readonly limits?: Partial<MachineLimits>;
  /** Directory to keep what outlives the process in; of one control plane at a time. Default: nothing outlives it. */
  readonly dataDir?: string;
  /** How sandboxes with `internet_access` get out. */
  readonly egress?: EgressOptions;
  /** Receives one line at a time for people to read; never a token or an environment value. Default: nothing is logged. */
  readonly log?: (message: string) => void;
}

export interface LocalControlPlane {
  /** Base URL for clients, such as `http://127.0.0.1:39417`. */
  readonly url: string;
  readonly apiKey: string;
  /** What starts the sandboxes. */
  readonly runtime: string;
  readonly isolation: IsolationLevel;
  /** Deletes every sandbox and stops listening; resolves when nothing is left. */
  close(): Promise<void>;
}

/**
 * Starts the sandbox cloud on this machine: the control plane's and the agents' HTTP APIs on one port.
 *
 * @throws RuntimeUnavailableError when no sandbox can be isolated here; its message says what to install or allow.
 * @throws InvalidEgressError when an entry of `egress` is no destination.
 * @throws PortUnavailableError when the port is taken or may not be used.
 * @throws DataDirectoryError when the data directory is in use or cannot be written.
 */
export async function startLocalControlPlane(
  options: LocalControlPlaneOptions = {},
): Promise<LocalControlPlane> {
  const runtime = new BubblewrapRuntime();
  const report = await runtime.probe();
  if (!report.usable) throw new RuntimeUnavailableError([report]);

  const store = await openStore(options.dataDir);
  try {
    return await serve(options, runtime, report.isolation, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function serve(
  options: LocalControlPlaneOptions,
  runtime: BubblewrapRuntime,
  isolation: IsolationLevel,
  store: Store,
): Promise<LocalControlPlane> {
  const egress = new EgressGateway({ operator: operatorRules(options.egress) });
  const apiKey = options.apiKey ?? keptApiKey(store);
  const accountKey = new AccountKey(apiKey);
  const log = options.log ?? (() => undefined);
  const limits = { ...defaultLimits(), ...options.limits };
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0, headersTimeout: 60_000 });
  answerUnreadableRequests(server, envelopeAt);
  const url = await listen(server, options.host ?? "127.0.0.1", options.port ?? 0);
  const [tokens, templates] = await Promise.all([openTokenIssuer(store), TemplateCatalogue.open(limits)]);
  const fleet = new SandboxFleet({
    runtime,
    templates,
    tokens,
    egress,
    isolation,
    poolSize: options.pool ?? 1,
    maxSandboxes: options.maxSandboxes ?? 64,
    log,
  });
  const listensEverywhere = options.host === "0.0.0.0" || options.host === "::";
  const baseFor = (host: string | undefined): string =>
    listensEverywhere && host !== undefined && /^[\w.:[\]-]+$/.test(host) ? `http://${host}` : url;
  const gateway = new AgentGateway({ find: (id) => fleet.get(id) });
  const api = controlPlaneApi({
    fleet,
    egress,
    templates,
    tokens,
    accountKey,
    runtime: runtime.name,
    isolation,
    version,
    agentUrl: (id, host) => baseFor(host) + agentPath(id),
    setEnvironment: (sandbox, variables) => setEnvironment(gateway, tokens, sandbox, variables),
    log,
  });
  server.on("request", (request, response) => {
    const target = agentTarget(request);
    void (target ? gateway.handle(request, response, target) : api.handle(request, response));
  });
  server.on("upgrade", (request, connection, head) => {
    if (request.headers.upgrade?.toLowerCase() !== "websocket") {
      ignoreUpgrade(server, request, connection, head);
    } else void gateway.handleUpgrade(request, connection, head);
  });

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    server.close();
    await fleet.close();
    server.closeAllConnections();
    await runtime.close();
    await store.close();
  };
  return {
    url,
    apiKey,
    runtime: runtime.name,
    isolation,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Made up once, so that callers need not be told again after a restart. */
function keptApiKey({ settings }: Store): string {
  const kept = settings?.get("api_key");
  if (kept !== undefined) return kept;
  const made = randomBytes(24).toString("base64url");
  settings?.set("api_key", made);
  return made;
}

/** The same key signs after a restart, so that tokens stay valid until they expire. */
async function openTokenIssuer({ settings }: Store): Promise<TokenIssuer> {
  const kept = settings?.get("signing_key");
  if (kept !== undefined) return TokenIssuer.open(kept);
  const issuer = await TokenIssuer.create();
  settings?.set("signing_key", await issuer.exportKey());
  return issuer;
}

function defaultLimits(): MachineLimits {
  return { memoryMb: 1024, diskMb: 1024, vcpu: Math.min(2, availableParallelism()), maxProcesses: 256 };
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new PortUnavailableError(host, port, error)),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const actualPort = typeof address === "object" && address ? address.port : port;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${actualPort}`;
}

/** Through the agent, like everything that happens inside a sandbox. */
async function setEnvironment(
  gateway: AgentGateway,
  tokens: TokenIssuer,
  { id, machine }: SandboxRecord,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const { token } = await tokens.issue(id);
  const answer = await gateway.connection(machine).send({
    method: "PATCH",
    path: "/env",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ env_vars: variables, merge: true }),
  });
  const answered = await text(answer);
  if ((answer.statusCode ?? 0) < 300) return;
  throw new Problem(
    400,
    "INVALID_REQUEST",
    `env_vars: ${problemText(answered) ?? `the agent answered ${answer.statusCode}`}`,
  );
}

function problemText(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
