import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { callInit, margin } from "../../config/options.js";
import { readErrorEnvelope } from "../../errors/error-envelope.js";
import { InvalidResponseError, reportIt } from "../../errors/errors.js";
import type { ExecuteRequest } from "../../execution/execute-options.js";
import { executionResult } from "../../execution/results/execution-result.js";
import { bodyOf, type ControlPlaneClient, readBody, successOf } from "../../transport/contract-clients.js";
import { type Answer, type CallInit, receivedOf } from "../../transport/openapi-client.js";
import { checkIsolation, createRequest } from "../sandbox-creation.js";
import type { IsolatedExecutionResult, StreamIsolatedOptions } from "./isolated-options.js";

/** Seconds that a program may wait on the server until there is room for it. */
const longestWait = 120;
/** Seconds to wait for the server to say at GET /health what it offers. */
const longestSilence = 15;

/** The clients whose servers run no programs without a sandbox. */
const lacking = new WeakSet<ControlPlaneClient>();

/**
 * Runs code without a sandbox (POST /v1/executions). Undefined if the server does not offer that, or the answer could not
 * confirm an option: then nothing has run.
 */
export async function executeOneShot(
  controlPlane: ControlPlaneClient,
  body: ExecuteRequest,
  options: StreamIsolatedOptions,
): Promise<IsolatedExecutionResult | undefined> {
  return sendOneShot(
    controlPlane,
    body,
    options,
    (init) => controlPlane.POST("/v1/executions", init),
    (answer) => readBody(answer, (wire) => oneShotResult(wire, options), "stdout", "exit_code"),
  );
}

/**
 * Runs code like `executeOneShot` and resolves when it has begun, with the stream of its frames: lines of JSON. While the
 * stream is not read, the program waits as soon as the buffers are full.
 */
export async function streamOneShot(
  controlPlane: ControlPlaneClient,
  body: ExecuteRequest,
  options: StreamIsolatedOptions,
): Promise<ReadableStream<Uint8Array> | undefined> {
  return sendOneShot(
    controlPlane,
    { ...body, stream: true },
    options,
    (init) => controlPlane.POST("/v1/executions", { ...init, parseAs: "stream" }),
    async (answer) => {
      const stream = await successOf<unknown>(answer);
      if (stream instanceof ReadableStream) return stream;
      throw new InvalidResponseError({
        summary: "The server answered without the stream that was asked for.",
        hint: reportIt,
        code: "INVALID_RESPONSE",
      });
    },
  );
}

type OneShotRequest = ExecuteRequest & { stream?: true };

/** Sends code with `send`, and reads the answer. Undefined if the code needs a sandbox: then nothing has run. */
async function sendOneShot<Body, Result>(
  controlPlane: ControlPlaneClient,
  body: OneShotRequest,
  options: StreamIsolatedOptions,
  send: (init: OneShotInit) => Promise<Answer<Body>>,
  read: (answer: Promise<Answer<Body>>) => Promise<Result>,
): Promise<Result | undefined> {
  const { egress, internetAccess, minIsolation, onStep, region, secrets, signal, template, templateId } =
    options;
  const creation = createRequest(
    { egress, internetAccess, minIsolation, region, secrets, template, templateId },
    undefined,
  );
  if ((region ?? egress ?? secrets ?? body.stdin) !== undefined || lacking.has(controlPlane))
    return undefined;
  onStep?.("execute");
  const requestTimeoutSeconds = body.timeout + margin + longestWait;
  const init = {
    params: { header: { "Idempotency-Key": globalThis.crypto.randomUUID() } },
    body: { ...body, ...creation },
    ...callInit({ signal, requestTimeoutSeconds }),
  };
  const answer = await send(init);
  if (!(await isLacking(controlPlane, answer, signal))) return read(Promise.resolve(answer));
  lacking.add(controlPlane);
  return undefined;
}

type OneShotInit = CallInit & {
  params: { header: { "Idempotency-Key": string } };
  body: OneShotRequest & ReturnType<typeof createRequest>;
};

/**
 * Whether an answer says that the server has no such operation, so that nothing has run. Servers and the proxies before them
 * answer unknown paths differently, so GET /health decides where the status alone does not.
 */
async function isLacking(
  controlPlane: ControlPlaneClient,
  answer: Answer<unknown>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { status } = receivedOf(answer);
  if (!refusals.includes(status)) return false;
  const { code = unknownPath } = readErrorEnvelope(answer.error, []);
  if (status === 404) return code === unknownPath;
  const asked = controlPlane.GET("/health", callInit({ signal, requestTimeoutSeconds: longestSilence }));
  const health = await bodyOf(asked, "status").catch(() => undefined);
  signal?.throwIfAborted();
  return health?.executions !== true;
}

/** The statuses with which servers answer requests of operations that they do not have. */
const refusals: readonly number[] = [403, 404, 405, 501];
/** The code of an answer about a path that the server does not have. A missing template has another code. */
const unknownPath = "NOT_FOUND";

function oneShotResult(
  wire: ControlPlaneSchemas["ProgramResult"],
  { minIsolation }: StreamIsolatedOptions,
): IsolatedExecutionResult {
  checkIsolation(minIsolation, wire.isolation);
  return { ...executionResult(wire), sandboxId: wire.id, isolation: wire.isolation, cleanupError: undefined };
}
