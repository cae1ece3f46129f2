import { Agent, ProxyAgent, fetch as undiciFetch } from "undici";
import { afterEach, beforeAll, expect, test } from "vitest";
import { isSandboxError, SandboxClient, type SandboxError } from "../../src/index.js";
import { answerFaults, tokenAndClockFaults } from "../faults/answer-faults.js";
import { connectionFaults, transferFaults } from "../faults/connection-faults.js";
import type { Fault, FaultGroup, Outcome } from "../faults/fault.js";
import { networkFaults, proxied, proxyFaults } from "../faults/network-faults.js";
import { streamFaults } from "../faults/stream-faults.js";
import { certificates } from "../support/certificates.js";
import { apiKey } from "../support/clients.js";
import { FaultyService } from "../support/faulty-service.js";

const groups: readonly FaultGroup[] = [
  answerFaults,
  connectionFaults,
  transferFaults,
  networkFaults,
  proxyFaults,
  tokenAndClockFaults,
  streamFaults,
];

let made: Awaited<ReturnType<typeof certificates>>;
beforeAll(async () => {
  made = await certificates();
});

const soon = { interval: 3 };
const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
process.on("unhandledRejection", note);

let service: FaultyService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** The sockets of this process, and the operations that are opening one. */
function openSockets(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|TLS|Connect|GetAddr/.test(name) && name !== "TCPServerWrap");
}

type Carrier = "undici" | "fetch";

/** A client for a fault, and a function that closes the client and the agent or proxy below it. */
function faultyClient(fault: Fault, carrier: Carrier, url: string) {
  const ca = fault.tls === undefined || fault.tls === "self-signed" ? [] : [made.authority];
  const connect = { timeout: 10_000, ca };
  const agent = fault.isProxy ? new ProxyAgent({ uri: url, connect }) : new Agent({ connect });
  const fetch = async (request: Request): Promise<Response> => {
    const { headers, method, signal, url } = request;
    const body = method === "GET" ? null : await request.arrayBuffer();
    const init = {
      body,
      headers: [...headers],
      method,
      signal,
      redirect: "manual" as const,
      dispatcher: agent,
    };
    const answer = await undiciFetch(url, init);
    const { status } = answer;
    return new Response(status === 204 ? null : answer.body, { status, headers: [...answer.headers] });
  };
  const client = new SandboxClient({
    apiKey,
    baseUrl: fault.isProxy ? proxied : (fault.baseUrl?.(url) ?? url),
    retry: { baseDelaySeconds: 0.001, maxDelaySeconds: 0.002 },
    ...(carrier === "fetch" && { fetch }),
    ...fault.options,
  });
  return {
    client,
    close: async () => {
      await client.close();
      // Destroy the agent of a proxy: closing it would wait for ever for a proxy that does not answer.
      await (fault.isProxy ? agent.destroy() : agent.close());
    },
  };
}

/** The parts of an error that `outcome` names, to be compared with it. */
function described(found: SandboxError | Outcome, outcome: Outcome): object {
  const error = "name" in found ? found.name : found.error;
  const names = (["code", "kind", "status", "closeCode"] as const).filter(
    (name) => outcome[name] !== undefined,
  );
  return error === undefined
    ? {}
    : { error, ...Object.fromEntries(names.map((name) => [name, Reflect.get(found, name)])) };
}

async function outcomeOf(call: Promise<unknown>): Promise<SandboxError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    return error;
  }
}

const cases = groups.flatMap(({ faults, title }) =>
  faults.flatMap((fault) =>
    (["undici", "fetch"] as const)
      .filter((carrier) => fault.carrier === undefined || fault.carrier === carrier)
      // Streams use a WebSocket and never fetch, so test them once.
      .filter((carrier) => title !== streamFaults.title || carrier === "undici")
      .map((carrier): [string, string, Carrier, Fault] => [title, fault.fault, carrier, fault]),
  ),
);

test.each(cases)("%s: a server that %s, over %s", async (_, __, carrier, fault) => {
  const at = fault.at ?? "GET /v1/sandboxes/abc";
  const { misbehave, outcome, tries = 1 } = fault;
  const tls = fault.tls && made[fault.tls];
  service = await FaultyService.start({ at, misbehave, tls });
  const { client, close } = faultyClient(fault, carrier, service.url);
  const call = async (): Promise<unknown> => fault.call?.(client) ?? client.sandboxes.get("abc");

  const started = performance.now();
  const error = await outcomeOf(call());
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(error === undefined ? {} : described(error, outcome)).toEqual(described(outcome, outcome));
  expect(service.tries).toBe(tries);
  if (error !== undefined) {
    expect(error.hint).toMatch(/^[A-Z].*[.]$/s);
    expect(error.message).not.toContain(apiKey);
    expect(error.requestId === undefined).toBe(fault.isAboutSeveral === true);
    if (service.requestId !== undefined && !fault.isAboutSeveral)
      expect(error.requestId).toBe(service.requestId);
  }

  service.mend();
  if (fault.baseUrl === undefined && fault.tls === undefined && !fault.isProxy)
    await expect.poll(() => outcomeOf(call()), soon).toBeUndefined();
  await close();
  await expect.poll(() => service?.openConnections, soon).toBe(0);
  await service.stop();
  await expect.poll(openSockets, soon).toEqual([]);
  expect(rejections).toEqual([]);
});
