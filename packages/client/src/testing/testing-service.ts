import { bearerToken, isLook, MemoryEvents } from "@cloud-sandbox/server-kit/handlers";
import {
  agentEnvelope,
  controlPlaneEnvelope,
  type Envelope,
  Problem,
  Reply,
  requestId,
} from "@cloud-sandbox/server-kit/portable";
import type { SandboxClientOptions } from "../config/client-options.js";
import { checkKnown } from "../config/options.js";
import type { Fetch } from "../transport/http/fetch-transport.js";
import type { OpenWebSocket } from "../transport/sockets/sockets.js";
import { agentService } from "./agent/agent-service.js";
import type { Machine } from "./agent/machine.js";
import { agentPrefix, controlPlaneService } from "./control-plane/control-plane-service.js";
import { MemoryFleet } from "./control-plane/memory-fleet.js";
import { MemorySecrets } from "./control-plane/memory-secrets.js";
import { TemplateBuilds } from "./control-plane/template-builds.js";
import { TemplateCatalogue } from "./control-plane/template-catalogue.js";
import { TemplateUploads } from "./control-plane/template-uploads.js";
import { TokenRegistry } from "./control-plane/token-registry.js";
import {
  type Attend,
  type MemoryReply,
  MemoryRequest,
  type MemoryService,
  responseOf,
} from "./memory/memory-exchange.js";
import type { MemoryFiles } from "./memory/memory-files.js";
import { MemorySocket } from "./memory/memory-socket.js";
import type { Programs } from "./memory/programs.js";
import { Reports } from "./memory/reports.js";
import { TestingClock } from "./memory/testing-clock.js";

/** Options of a `TestingService`. */
export interface TestingServiceOptions {
  /**
   * The programs that the service knows, with their answers; nothing is really run. Either a table from a program's
   * text to its answer, or a function. An unknown program is refused with a message that quotes it. Default: all
   * programs are unknown.
   */
  programs?: Programs | undefined;
  /** The only API key that is accepted. Default `testing-key`. */
  apiKey?: string | undefined;
  /** The service's address: requests are sent to it, and URLs in answers begin with it. Default `http://sandboxes.test`. */
  baseUrl?: string | undefined;
  /** Sends reports of asynchronous executions to their callback URLs. Default: the global `fetch`. */
  sendReport?: Fetch | undefined;
}

/** A control plane and the agents of its sandboxes, in memory: both APIs, without a network and without isolation. */
export class TestingService {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** The service's clock, which a test can advance. */
  readonly clock = new TestingClock();
  readonly #controlPlane: MemoryService;
  readonly #agents = new WeakMap<Machine, MemoryService>();
  readonly #fleet: MemoryFleet;
  readonly #tokens = new TokenRegistry(this.clock);
  readonly #reports: Reports;

  constructor(options: TestingServiceOptions = {}) {
    checkKnown("TestingService", options, { programs: true, apiKey: true, baseUrl: true, sendReport: true });
    const { clock } = this;
    const { apiKey = "testing-key", baseUrl = "http://sandboxes.test", programs = {} } = options;
    this.apiKey = apiKey;
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    const templates = new TemplateCatalogue();
    const uploads = new TemplateUploads(clock);
    const events = new MemoryEvents(() => clock.now().getTime());
    const secrets = new MemorySecrets(clock);
    this.#fleet = new MemoryFleet({ clock, programs, templates, events, secrets });
    this.#reports = new Reports(clock, options.sendReport ?? ((request) => globalThis.fetch(request)));
    this.#controlPlane = controlPlaneService({
      apiKey,
      baseUrl: this.baseUrl,
      clock,
      fleet: this.#fleet,
      tokens: this.#tokens,
      templates,
      builds: new TemplateBuilds({ clock, programs, templates, uploads }),
      uploads,
      reports: this.#reports,
      events,
      secrets,
    });
  }

  /** Options to connect a client: `new SandboxClient(service.clientOptions)`. */
  get clientOptions(): Pick<SandboxClientOptions, "apiKey" | "baseUrl" | "fetch" | "webSocket"> {
    const { apiKey, baseUrl, fetch, webSocket } = this;
    return { apiKey, baseUrl, fetch, webSocket };
  }

  /** Answers a request as the network would. Rejects for URLs outside the service's address. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    // Abort the request also when the caller stops reading the answer, as a closed connection would.
    const leaving = new AbortController();
    const leave = (): void => leaving.abort(request.signal.reason);
    if (request.signal.aborted) leave();
    else request.signal.addEventListener("abort", leave);
    return responseOf(await this.#answer(request, leaving.signal), request, leave);
  };

  /** Opens a WebSocket to an agent. */
  readonly webSocket: OpenWebSocket = (url, { headers }) => {
    const request = new Request(url.replace(/^ws/, "http"), { headers });
    return new MemorySocket(this.#admit(request));
  };

  /**
   * The files of a sandbox, to prepare them before a test and inspect them afterwards. Throws if the sandbox does not
   * exist.
   */
  filesOf(sandboxId: string): MemoryFiles {
    return this.#fleet.get(sandboxId).files;
  }

  async #admit(source: Request): Promise<Attend> {
    const { machine, request } = await this.#toAgent(source, true);
    const { status } = await this.#ofAgent(machine)(request, () => source.signal);
    const { attend } = request;
    if (!attend) throw new Error(`The WebSocket was refused with ${status}.`);
    return (socket) => {
      const leave = machine.onGone(() => socket.close(goingAway));
      socket.closed.addEventListener("abort", leave);
      attend(socket);
    };
  }

  async #answer(source: Request, signal: AbortSignal): Promise<MemoryReply> {
    const { origin, pathname, search } = new URL(source.url);
    if (origin !== new URL(this.baseUrl).origin)
      throw new TypeError(`fetch failed: the testing service is ${this.baseUrl}, not ${origin}.`);
    const isAgents = this.#pathOf(pathname).startsWith(agentPrefix);
    const headers = { date: this.clock.now().toUTCString() };
    try {
      const reply = await untilAborted(signal, async () => {
        if (!isAgents) {
          const request = new MemoryRequest(source, this.#pathOf(pathname) + search);
          return this.#controlPlane(request, () => signal);
        }
        const { machine, request } = await this.#toAgent(source);
        const ask = () => this.#ofAgent(machine)(request, () => signal);
        return until(machine.gone, (listener) => machine.onGone(listener), ask);
      });
      return new Reply(reply.body, { ...headers, ...reply.headers }, reply.status);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return refusal(error, isAgents ? agentEnvelope : controlPlaneEnvelope, headers);
    }
  }

  #pathOf(pathname: string): string {
    return pathname.slice(new URL(this.baseUrl).pathname.replace(/\/+$/, "").length);
  }

  /** Finds the machine that a request to an agent is for. Throws a problem if its agent cannot be reached. */
  async #toAgent(source: Request, isUpgrade = false): Promise<{ machine: Machine; request: MemoryRequest }> {
    const { pathname, search } = new URL(source.url);
    const [, id = "", path = ""] =
      /^([^/]*)(.*)$/.exec(this.#pathOf(pathname).slice(agentPrefix.length)) ?? [];
    if (this.#fleet.has(id) && this.#fleet.get(id).sleep.autoStart)
      this.#tokens.verify(id, bearerToken(source.headers.get("authorization") ?? undefined));
    return {
      machine: isLook(path) ? this.#fleet.reachable(id) : await this.#fleet.used(id),
      request: new MemoryRequest(source, (path || "/") + search, isUpgrade),
    };
  }

  #ofAgent(machine: Machine): MemoryService {
    const known = this.#agents.get(machine);
    if (known) return known;
    const service = agentService({
      machine,
      reports: this.#reports,
      authenticate: ({ header }) =>
        this.#tokens.verify(machine.sandboxId, bearerToken(header("authorization"))),
    });
    this.#agents.set(machine, service);
    return service;
  }
}

/** WebSocket close code for a server that shuts down. */
const goingAway = 1001;

/** Awaits `work`, or rejects with the signal's reason if it aborts first. */
async function untilAborted<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  const listen = (listener: () => void): (() => void) => {
    signal.addEventListener("abort", listener);
    return () => signal.removeEventListener("abort", listener);
  };
  return until(signal, listen, work);
}

async function until<Value>(
  signal: AbortSignal,
  listen: (listener: () => void) => () => void,
  work: () => Promise<Value>,
): Promise<Value> {
  signal.throwIfAborted();
  let leave = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = listen(() => reject(signal.reason));
  });
  return Promise.race([work(), aborted]).finally(leave);
}

function refusal(problem: Problem, envelope: Envelope, headers: Record<string, string>): MemoryReply {
  const id = requestId(undefined);
  const body = JSON.stringify(envelope(problem, { requestId: id, timestamp: new Date().toISOString() }));
  const sent = {
    ...headers,
    "content-type": "application/json",
    "x-request-id": id,
    ...problem.headers,
  };
  return new Reply(body, sent, problem.status);
}
