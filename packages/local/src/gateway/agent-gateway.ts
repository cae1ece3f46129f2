import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { portTunnel } from "@cloud-sandbox/protocol";
import { longestAnswer } from "@cloud-sandbox/protocol/bounded-answers";
import { Problem, splice, switchProtocols } from "@cloud-sandbox/server-kit";
import { sandboxFailed } from "@cloud-sandbox/server-kit/handlers";
import type { AgentConnection, AgentConnections, AgentRequest } from "../agents/agent-connection.js";
import type { AgentTarget } from "../agents/agent-target.js";
import { noDescriptorLeft } from "../agents/no-descriptor-left.js";
import { bodyOf, disconnectSignal, isUnreadable, passOn } from "../relay/exchange.js";
import { forwardedRequestHeaders, forwardedResponseHeaders } from "../relay/forwarded-headers.js";
import { endsSoon } from "../runtime/ends-soon.js";
import { isOutOfDescriptors } from "../runtime/host/open-files.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { type ReachableSandbox, reachableMachine } from "../sandboxes/sandbox-record.js";
import { portClosed, refuse } from "./refusal.js";
import type { SandboxVisits, Visit } from "./sandbox-visits.js";

/** The header from which an agent knows the addresses of its previews. */
const previewHeader = "x-preview-url-template";

/**
 * Forwards requests to agents on the control plane's own port, streamed in both directions: `/agent/<sandbox id>/…`, and
 * any path for callers with a sandbox's token.
 *
 * Agents are untrusted, because code in the sandbox may have replaced them: an answer may be slow, end in the middle or be
 * invalid. The account's key is never passed on.
 */
export class AgentGateway {
  constructor(
    private readonly options: {
      readonly connections: AgentConnections;
      /** Finds a sandbox; throws the problem that says why there is none. */
      readonly find: (sandboxId: string) => ReachableSandbox;
      /** The preview address of a sandbox's ports, with `{port}` in place of the port, as a caller of this `Host` reaches it. */
      readonly previewUrl: (sandboxId: string, host: string | undefined) => string;
      /** Resolves when it is known whether the machine of a sandbox goes on that an earlier control plane had. */
      readonly settled?: (sandboxId: string) => Promise<void> | undefined;
      /** Default: requests start no sandboxes. */
      readonly visits?: Pick<SandboxVisits, "begin">;
      /** Called with each answer of an agent before it is passed on. */
      readonly onAnswer?: (request: IncomingMessage, target: AgentTarget, answer: IncomingMessage) => void;
    },
  ) {}

  /** Answers a request for an agent. */
  async handle(request: IncomingMessage, response: ServerResponse, target: AgentTarget): Promise<void> {
    try {
      const signal = disconnectSignal(response);
      const visit = agentVisit(request.headers.authorization, target.path, response);
      const machine = await this.running(target.sandboxId, visit);
      const message = await this.connection(machine)
        .send({
          method: request.method ?? "GET",
          path: target.path,
          headers: {
            ...forwardedRequestHeaders(request, machine.id),
            ...(target.path.startsWith("/desktop/") && {
              [previewHeader]: this.options.previewUrl(machine.id, request.headers.host),
            }),
          },
          body: bodyOf(request),
          signal,
        })
        .catch((error: unknown) => this.explain(machine, signal, error));
      limitLength(longestAnswer(target.path), message);
      this.options.onAnswer?.(request, target, message);
      await passOn({ message, connection: undefined }, response, forwardedResponseHeaders(message));
    } catch (error) {
      refuse(request, response, error);
    }
  }

  /** Answers a request for a WebSocket. The control plane has none, so it is always for an agent. */
  async handleUpgrade(
    request: IncomingMessage,
    response: ServerResponse,
    target: AgentTarget | undefined,
  ): Promise<void> {
    try {
      const { machine, path } = await this.#upgradeTarget(request, target);
      const signal = disconnectSignal(response);
      const headers = forwardedRequestHeaders(request, machine.id);
      const answer = await this.connection(machine)
        .upgrade({ path, headers, signal })
        .catch((error: unknown) => this.explain(machine, signal, error));
      if (target) this.options.onAnswer?.(request, target, answer.message);
      await passOn(answer, response, forwardedResponseHeaders(answer.message));
    } catch (error) {
      refuse(request, response, error);
    }
  }

  /** Opens a port tunnel: joins the caller's connection with one to a port inside the sandbox. */
  async handlePortTunnel(
    request: IncomingMessage,
    response: ServerResponse,
    target: AgentTarget | undefined,
  ): Promise<void> {
    try {
      const { machine, path } = await this.#upgradeTarget(request, target);
      const port = portIn(path);
      const { authorization } = forwardedRequestHeaders(request, machine.id);
      if (typeof authorization !== "string") throw tokenNeeded();
      const signal = disconnectSignal(response);
      const { message, connection } = await this.connection(machine)
        .openPort(port, authorization, signal)
        .catch((error: unknown) => this.explain(machine, signal, error));
      if (!connection || message.statusCode !== 200) {
        connection?.destroy();
        throw portClosed(port, message.statusCode);
      }
      const caller = switchProtocols(response, portTunnel.protocol);
      if (caller) splice(caller, connection);
      else connection.destroy();
    } catch (error) {
      refuse(request, response, error);
    }
  }

  /** The machine and path of an upgrade request. Throws a 401 problem if the request names no sandbox. */
  async #upgradeTarget(
    { headers, socket }: IncomingMessage,
    target: AgentTarget | undefined,
  ): Promise<{ machine: Machine; path: string }> {
    if (!target) throw tokenNeeded();
    const { sandboxId, path } = target;
    return { machine: await this.running(sandboxId, agentVisit(headers.authorization, path, socket)), path };
  }

  /**
   * The machine of a sandbox whose agent can be called now; throws the problem that says why it cannot. A visit counts as a use of the
   * sandbox, and may start it.
   */
  async running(sandboxId: string, visit?: Visit): Promise<Machine> {
    await this.options.settled?.(sandboxId);
    if (visit) await this.options.visits?.begin(this.options.find(sandboxId), visit);
    return reachableMachine(this.options.find(sandboxId));
  }

  connection(machine: Machine): AgentConnection {
    return this.options.connections.to(machine);
  }

  /** Sends the control plane's own request, or one for a visit; throws the problem that says why there is no answer. */
  async send(sandboxId: string, request: AgentRequest, visit?: Visit): Promise<IncomingMessage> {
    const machine = await this.running(sandboxId, visit);
    return this.connection(machine)
      .send(request)
      .catch((error: unknown) => this.explain(machine, request.signal, error));
  }

  /** Sends the request of a caller, whose token it has. */
  sendForCaller(sandboxId: string, request: AgentRequest): Promise<IncomingMessage> {
    const { headers, path } = request;
    const [authorization] = [headers.authorization].flat();
    return this.send(sandboxId, request, agentVisit(authorization, path, undefined));
  }

  /** Throws the problem that says why a call to an agent failed. */
  async explain(machine: Machine, abandoned: AbortSignal | undefined, cause: unknown): Promise<never> {
    if (abandoned?.aborted || cause instanceof Problem || isUnreadable(cause)) throw cause;
    if (isOutOfDescriptors(cause)) throw noDescriptorLeft(cause);
    const wasCutOff = machine.isCutOff;
    await this.checkAlive(machine);
    const { id } = machine;
    // Answer with 409 and not with a 5xx: clients retry a 5xx, but the code may have run already.
    const what =
      wasCutOff || machine.isCutOff
        ? `The connection to sandbox ${id} was cut while it served this request. The sandbox goes on if it can be reached again, and so may what this request has started: get the sandbox to see`
        : `The agent of sandbox ${id} ended while it served this request: code in the sandbox killed it or made it hang, or memory ran out. The agent was restarted and the files are kept`;
    throw new Problem(409, "EXECUTION_INTERRUPTED", `${what}.`, {
      hint: "Check what the code has done before you run it again.",
      cause,
      details: { sandbox_id: id },
    });
  }

  /** If the sandbox or its machine has ended, throws the problem that says why. */
  async checkAlive(machine: Machine): Promise<void> {
    this.#checkRecord(machine);
    const ended = await endsSoon(machine);
    this.#checkRecord(machine);
    if (!ended) return;
    const sandbox = this.options.find(machine.id);
    reachableMachine(sandbox);
    throw sandboxFailed(sandbox);
  }

  /**
   * If the sandbox was deleted, has expired or was stopped, throws the problem that says so. Its machine is destroyed after
   * that is recorded, and may cut its calls long before `exited` settles.
   */
  #checkRecord(machine: Machine): void {
    const sandbox = this.options.find(machine.id);
    if (sandbox.machine !== machine) reachableMachine(sandbox);
  }
}

/** A request to an agent with this `Authorization` header. */
const agentVisit = (
  authorization: string | undefined,
  path: string,
  answered: EventEmitter | undefined,
): Visit => ({ to: "agent", authorization, path, answered });

/** Refuses an answer that is longer than any real one. An answer that has begun is cut. */
function limitLength(most: number | undefined, message: IncomingMessage): void {
  if (most === undefined) return;
  if (Number(message.headers["content-length"] ?? 0) > most) {
    message.destroy();
    throw answerTooLong(most);
  }
  let received = 0;
  message.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received > most) message.destroy(answerTooLong(most));
  });
}

const answerTooLong = (most: number): Problem =>
  new Problem(
    409,
    "AGENT_UNREADABLE",
    `The sandbox's agent sent an answer of more than ${most / 1024 / 1024} MiB, the most that a working agent sends here.`,
    { hint: "Delete the sandbox and create a new one." },
  );

/** The port that a tunnel's path names. */
function portIn(path: string): number {
  const port = Number(/^\/ports\/(\d{1,5})\/tunnel$/.exec(path)?.[1]);
  if (port > 0 && port < 65_536) return port;
  const message = `The protocol ${portTunnel.protocol} is available only at the path /ports/<port>/tunnel, with a port from 1 to 65535.`;
  throw new Problem(404, "NOT_FOUND", message);
}

const tokenNeeded = (): Problem =>
  new Problem(
    401,
    "AUTHENTICATION_REQUIRED",
    "Send the sandbox's token as Authorization: Bearer <auth_token>, or use the address that public_host gives.",
    { headers: { "www-authenticate": "Bearer" } },
  );
