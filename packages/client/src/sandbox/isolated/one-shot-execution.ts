import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { callInit } from "../../config/call-options.js";
import { margin } from "../../config/time-limits.js";
import { InvalidResponseError, NetworkError, NotFoundError, reportIt } from "../../errors/errors.js";
import type { ExecuteRequest } from "../../execution/execute-options.js";
import { richResult } from "../../execution/results/rich-execution.js";
import { CallScope } from "../../transport/calls/call-scope.js";
import { unlessAborted } from "../../transport/calls/unless-aborted.js";
import { bodyOf, type ControlPlaneClient, readBody, successOf } from "../../transport/contract-clients.js";
import type { CallInit } from "../../transport/http/light-request.js";
import { checkIsolation } from "../granted-options.js";
import { createRequest } from "../sandbox-creation.js";
import type { IsolatedExecutionOptions, IsolatedExecutionResult } from "./isolated-options.js";

/** Seconds that a program may wait on the server until there is room for it. */
const longestWait = 120;
/** Seconds to wait for the server to say what it offers. */
const longestSilence = 15;

/** For each client, whether its server runs programs without a sandbox. */
const offers = new WeakMap<ControlPlaneClient, Promise<boolean>>();

/**
 * Runs code without a sandbox (POST /v1/executions). Undefined if the server does not offer that, or the answer could not
 * confirm an option: then nothing has run.
 */
export async function executeOneShot(
  controlPlane: ControlPlaneClient,
  body: ExecuteRequest,
  options: IsolatedExecutionOptions,
): Promise<IsolatedExecutionResult | undefined> {
  return sendOneShot(controlPlane, body, options, (init) =>
    readBody(
      controlPlane.POST("/v1/executions", init),
      (wire) => oneShotResult(wire, options),
      "stdout",
      "exit_code",
    ),
  );
}

/**
 * Runs code like `executeOneShot` and resolves when it has begun, with the stream of its frames: lines of JSON. While the
 * stream is not read, the program waits as soon as the buffers are full.
 */
export async function streamOneShot(
  controlPlane: ControlPlaneClient,
  body: ExecuteRequest,
  options: IsolatedExecutionOptions,
): Promise<ReadableStream<Uint8Array> | undefined> {
  return sendOneShot(controlPlane, { ...body, stream: true }, options, async (init) => {
    const stream = await successOf(controlPlane.POST("/v1/executions", { ...init, parseAs: "stream" }));
    if (stream instanceof ReadableStream) return stream;
    throw new InvalidResponseError({
      summary: "The server answered without the stream that was asked for.",
      hint: reportIt,
      code: "INVALID_RESPONSE",
    });
  });
}

type OneShotRequest = ExecuteRequest & { stream?: true };

/** Sends code with `send`. Undefined if the code needs a sandbox: then nothing has run. */
async function sendOneShot<Answer>(
  controlPlane: ControlPlaneClient,
  body: OneShotRequest,
  options: IsolatedExecutionOptions,
  send: (init: OneShotInit) => Promise<Answer>,
): Promise<Answer | undefined> {
  const { egress, internetAccess, minIsolation, onStep, region, signal, template, templateId } = options;
  const place = createRequest(
    { egress, internetAccess, minIsolation, region, template, templateId },
    undefined,
  );
  if (region !== undefined || egress !== undefined) return undefined;
  if (!(await isOffered(controlPlane, signal))) return undefined;
  onStep?.("execute");
  const requestTimeoutSeconds = body.timeout + margin + longestWait;
  const init = {
    params: { header: { "Idempotency-Key": globalThis.crypto.randomUUID() } },
    body: { ...body, ...place },
    ...callInit({ signal, requestTimeoutSeconds }),
  };
  try {
    return await send(init);
  } catch (error) {
    // The server no longer has the operation, so nothing has run: do not try it again.
    if (!(error instanceof NotFoundError && error.code === "NOT_FOUND")) throw error;
    offers.set(controlPlane, Promise.resolve(false));
    return undefined;
  }
}

type OneShotInit = CallInit & {
  params: { header: { "Idempotency-Key": string } };
  body: OneShotRequest & ReturnType<typeof createRequest>;
};

/** Whether the server says at GET /health that it runs programs without a sandbox. A client asks once. */
async function isOffered(
  controlPlane: ControlPlaneClient,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const scope = new CallScope(signal);
  try {
    return await unlessAborted(askServer(controlPlane), scope);
  } finally {
    scope.end();
  }
}

function askServer(controlPlane: ControlPlaneClient): Promise<boolean> {
  const known = offers.get(controlPlane);
  if (known !== undefined) return known;
  // Do not pass the caller's signal: other callers may wait for the same answer.
  const init = callInit({ requestTimeoutSeconds: longestSilence });
  const answer = bodyOf(controlPlane.GET("/health", init), "status").then(
    ({ executions }) => executions === true,
    (error: unknown) => {
      if (!(error instanceof NotFoundError)) offers.delete(controlPlane);
      // The server cannot be reached, so creating a sandbox would fail too.
      if (error instanceof NetworkError && !error.wasSent) throw error;
      // Ignore other errors here: if the server is at fault, creating a sandbox fails and reports it.
      return false;
    },
  );
  offers.set(controlPlane, answer);
  return answer;
}

function oneShotResult(
  wire: ControlPlaneSchemas["ProgramResult"],
  { minIsolation }: IsolatedExecutionOptions,
): IsolatedExecutionResult {
  checkIsolation(minIsolation, wire.isolation);
  return { ...richResult(wire), sandboxId: wire.id, isolation: wire.isolation, cleanupError: undefined };
}
