import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { contractRouter, controlPlaneEnvelope } from "@cloud-sandbox/server-kit";
import { controlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import type { Delivery } from "@cloud-sandbox/server-kit/handlers";
import { expect, onTestFinished } from "vitest";
import type { AgentRequest } from "../../src/agents/agent-connection.js";
import { agentTarget } from "../../src/agents/agent-target.js";
import { openStore, type Store } from "../../src/store/store.js";
import { DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import { ExecutionFollower } from "../../src/webhooks/execution-follower.js";
import type { WebhookOptions } from "../../src/webhooks/webhook-options.js";
import { Webhooks } from "../../src/webhooks/webhooks.js";
import { tokenFor } from "./gateway-rig.js";
import { type Asked, type Said, ScriptedAgent } from "./scripted-agent.js";

export const started = { execution_id: "e1", process_id: "bg_1/x", status: "running" };
export const ended = {
  status: "completed",
  exit_code: 0,
  duration: 1,
  stdout: "",
  stdout_bytes: 0,
  stderr: "",
  stderr_bytes: 0,
};
export const running = { ...ended, status: "running" };

/** An agent that starts every execution, and answers with `job` to requests for its state. */
export const agentSaying =
  (job: Said) =>
  ({ url }: Asked): Said =>
    url.startsWith("/execute/background") ? started : url.startsWith("/execute/kill") ? {} : job;

export interface Given {
  readonly answer?: (asked: Asked, count: number) => Said;
  readonly store?: Store;
  readonly options?: WebhookOptions;
  readonly send?: () => void;
}

/** The webhooks of a control plane, behind an HTTP server. */
export async function webhooks({ answer = agentSaying(ended), store: given, options, send }: Given = {}) {
  const store = given ?? (await openStore());
  const log: string[] = [];
  const agent = await ScriptedAgent.start(answer);
  const asked: string[] = [];
  const toAgent = async (sandboxId: string, request: AgentRequest): Promise<IncomingMessage> => {
    asked.push(sandboxId);
    send?.();
    return agent.send(request);
  };
  const made = new Webhooks({
    store,
    options: { allowPrivateAddresses: true, firstRetryMs: 20, maxRetryMs: 50, ...options },
    send: toAgent,
    follower: new ExecutionFollower((sandboxId, path, signal) => {
      const headers = { authorization: `Bearer own token of ${sandboxId}` };
      return toAgent(sandboxId, { method: "GET", path, headers, signal });
    }),
    isUsable: () => true,
    keyOf: (sandboxId) => /^key_\w/.exec(sandboxId)?.[0],
    log: (line) => log.push(line),
  });
  const api = contractRouter({
    contract: {
      ...controlPlaneContract,
      operations: controlPlaneContract.operations.filter(({ operationId }) => /Webhook/.test(operationId)),
    },
    handlers: made.handlers(() => true),
    envelope: controlPlaneEnvelope,
    authenticate: () => undefined,
    bodyLimit: 1000,
  });
  const server = createServer((request, response) => {
    const target = agentTarget(request);
    if (target && made.handles(request, target)) void made.handle(request, response);
    else if (request.url?.startsWith("/v1/")) void api.handle(request, response);
    else response.writeHead(299).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    await made.close();
    if (!given) await store.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) };
  };
  const execute = (body: object, headers: Record<string, string> = {}, path = "/agent/s/execute/async") =>
    call(path, {
      method: "POST",
      headers: { authorization: `Bearer ${tokenFor("s")}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const deliveries = async () => new DeliveryRepository(await store.database());
  return { webhooks: made, agent, asked, log, url, call, execute, deliveries, store };
}

export const nowhere = "http://127.0.0.1:1/hook";

/** Waits until the first delivery was delivered. Resolves with it. */
export const done = (known: DeliveryRepository): Promise<Delivery> =>
  expect
    .poll(() => known.list({})[0]?.status)
    .toBe("delivered")
    .then(() => known.list({})[0] as Delivery);
