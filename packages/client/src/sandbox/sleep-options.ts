import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { limits } from "@cloud-sandbox/protocol/limits";
import {
  type CallOptions,
  callOptionNames,
  checkBoolean,
  checkKnown,
  checkOneOf,
  checkTexts,
  checkWhole,
  type OptionNames,
  omitUndefined,
} from "../config/options.js";
import { InvalidResponseError } from "../errors/errors.js";

/** What happens at the deadline of a running sandbox: it is deleted, stopped or paused. */
export type OnTimeout = ControlPlaneSchemas["OnTimeout"];

/** Why a sandbox is stopped or paused: by a call, for its idle time, at its deadline, or with its server. */
export type StopReason = ControlPlaneSchemas["StopReason"];

/** When a sandbox sleeps, and whether requests start it again. */
export interface SleepOptions {
  /**
   * What happens at the deadline. Default: `delete`. With `stop` its files are kept, with `pause` its memory too; it is deleted at the
   * second deadline that the server then sets (a week later by default), and has its whole `timeoutSeconds` once it runs again. The
   * same holds whenever such a sandbox is stopped or paused before. Fails if the server does not confirm it.
   */
  onTimeout?: OnTimeout | undefined;
  /**
   * Seconds without activity after which the sandbox is stopped, or paused with `onTimeout: "pause"`; a whole number to 86,400.
   * Default: 0, and it is not. Activity is a call to the sandbox, an open stream, terminal, tunnel or request of a preview, and a background
   * execution that runs; metrics, health and calls to the control plane are none, nor are programs that code has left behind.
   */
  idleTimeoutSeconds?: number | undefined;
  /**
   * Whether calls to the sandbox and HTTP requests of its previews start it while it is stopped or paused. They wait for that, 30 s at
   * most. Default: false, and they are a `ConflictError`.
   */
  autoStart?: boolean | undefined;
}

/** Options of `update`. What is left out stays as it is. */
export interface UpdateSandboxOptions extends CallOptions, SleepOptions {
  /** The labels that the sandbox has from now on, in place of all that it had. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

export const sleepOptionNames: OptionNames<SleepOptions> = {
  onTimeout: true,
  idleTimeoutSeconds: true,
  autoStart: true,
};

type UpdateRequest = ControlPlaneSchemas["UpdateSandboxRequest"];

/** The request body of "update sandbox". Throws for options that no server accepts. */
export function updateRequest(options: UpdateSandboxOptions): UpdateRequest {
  checkKnown("update", options ?? null, { ...callOptionNames, ...sleepOptionNames, metadata: true });
  const { metadata } = options;
  checkTexts("metadata", metadata);
  return {
    ...omitUndefined({ metadata: metadata && { ...metadata } }),
    ...sleepOnWire(options),
  };
}

/** The fields of a request for these options. Throws for values that no server accepts. */
export function sleepOnWire({ onTimeout, idleTimeoutSeconds, autoStart }: SleepOptions) {
  checkOneOf("onTimeout", onTimeout, ["delete", "stop", "pause"]);
  checkWhole("idleTimeoutSeconds", idleTimeoutSeconds, 0, limits.sandboxSeconds);
  checkBoolean("autoStart", autoStart);
  return omitUndefined({
    on_timeout: onTimeout,
    idle_timeout_seconds: idleTimeoutSeconds,
    auto_start: autoStart,
  });
}

/** Throws if the sandbox is to sleep and the answer does not tell when: a server that does not know the fields deletes it. */
export function checkSleep(asked: SleepOptions, made: ControlPlaneSchemas["Sandbox"]): void {
  if (Object.keys(sleepOnWire(asked)).length === 0 || made.on_timeout !== undefined) return;
  throw new InvalidResponseError({
    summary: "The server does not confirm when the sandbox sleeps, so it may delete it at its deadline.",
    hint: "Use another backend, or leave onTimeout, idleTimeoutSeconds and autoStart out.",
    code: "SLEEP_NOT_MET",
  });
}
