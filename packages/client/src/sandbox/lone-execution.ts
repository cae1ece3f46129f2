import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { callInit } from "../config/call-options.js";
import { margin } from "../config/time-limits.js";
import { NotFoundError } from "../errors/errors.js";
import type { ExecuteRequest } from "../execution/execute-options.js";
import { executionResult } from "../execution/execution-result.js";
import { bodyOf, type ControlPlaneClient, readBody } from "../transport/contract-clients.js";
import { checkIsolation } from "./granted-options.js";
import type { IsolatedExecutionOptions, IsolatedExecutionResult } from "./isolated-options.js";
import { createRequest } from "./sandbox-creation.js";

/** Seconds that a program may wait for its turn on the server. */
const longestWait = 120;

/** Whether a server runs programs without a sandbox, as it said when it was asked. */
const offers = new WeakMap<ControlPlaneClient, Promise<boolean>>();

/**
 * Runs code without a sandbox (POST /v1/executions). Undefined if the server does not offer that, or would create a sandbox
 * itself: then nothing has run.
 */
export async function executeAlone(
  controlPlane: ControlPlaneClient,
  body: ExecuteRequest,
  options: IsolatedExecutionOptions,
): Promise<IsolatedExecutionResult | undefined> {
  const { egress, internetAccess, minIsolation, onStep, region, signal, template, templateId } = options;
  if (internetAccess !== false || region !== undefined || egress !== undefined) return undefined;
  const place = createRequest({ internetAccess, minIsolation, template, templateId }, undefined);
  if (!(await offered(controlPlane, signal))) return undefined;
  onStep?.("execute");
  const requestTimeoutSeconds = body.timeout + margin + longestWait;
  const init = { body: { ...body, ...place }, ...callInit({ signal, requestTimeoutSeconds }) };
  try {
    return await readBody(
      controlPlane.POST("/v1/executions", init),
      (wire) => loneResult(wire, options),
      "stdout",
      "exit_code",
    );
  } catch (error) {
    // A server that has lost the operation since has not run anything.
    if (!(error instanceof NotFoundError && error.code === "NOT_FOUND")) throw error;
    offers.set(controlPlane, Promise.resolve(false));
    return undefined;
  }
}

async function offered(controlPlane: ControlPlaneClient, signal: AbortSignal | undefined): Promise<boolean> {
  const known = offers.get(controlPlane);
  if (known !== undefined) return known;
  const asked = bodyOf(controlPlane.GET("/health", callInit({ signal })), "status").then(
    ({ executions }) => executions === true,
  );
  offers.set(controlPlane, asked);
  try {
    return await asked;
  } catch {
    // What is wrong, the call that creates a sandbox tells.
    offers.delete(controlPlane);
    return false;
  }
}

function loneResult(
  wire: ControlPlaneSchemas["ProgramResult"],
  { minIsolation }: IsolatedExecutionOptions,
): IsolatedExecutionResult {
  checkIsolation(minIsolation, wire.isolation);
  return { ...executionResult(wire), sandboxId: wire.id, isolation: wire.isolation, cleanupError: undefined };
}
