import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";

export type OnTimeout = ControlPlaneSchemas["OnTimeout"];
export type StopReason = ControlPlaneSchemas["StopReason"];

/** When a sandbox sleeps, and whether requests start it again. */
export interface SleepSettings {
  /** What happens at the deadline of a running sandbox. */
  readonly onTimeout: OnTimeout;
  /** Seconds without activity after which it sleeps. Undefined if it does not. */
  readonly idleTimeoutSeconds: number | undefined;
  /** Whether requests to a sandbox that sleeps start it. */
  readonly autoStart: boolean;
}

/** The settings of a sandbox whose create request names none. */
export const neverSleeps: SleepSettings = {
  onTimeout: "delete",
  idleTimeoutSeconds: undefined,
  autoStart: false,
};

/** A change of a sandbox's labels and settings. What is left out stays as it is. */
export interface SandboxUpdate {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly sleep: Partial<SleepSettings>;
}

type SleepBody = Pick<
  ControlPlaneSchemas["UpdateSandboxRequest"],
  "on_timeout" | "idle_timeout_seconds" | "auto_start"
>;

/** The settings that a request names. */
export function requestedSleep(body: SleepBody): Partial<SleepSettings> {
  const { on_timeout: onTimeout, idle_timeout_seconds: idle, auto_start: autoStart } = body;
  return {
    ...(onTimeout !== undefined && { onTimeout }),
    ...(idle !== undefined && { idleTimeoutSeconds: idle || undefined }),
    ...(autoStart !== undefined && { autoStart }),
  };
}

/** Whether a sandbox with this status sleeps: what runs in it has ended or waits, and it has a deadline for that. */
export const isAsleep = (status: string): boolean => status === "stopped" || status === "paused";

/** Whether a request to an agent at this path only shows that the sandbox works, and does not count as a use of it. */
export const isLook = (path: string): boolean => /^\/(ping|health|metrics(\/\w+)?)?(\?|$)/.test(path);

/** The settings in the contract's form, and why the sandbox sleeps, if it does. */
export function sleepOnWire(
  { onTimeout, idleTimeoutSeconds, autoStart }: SleepSettings,
  stopReason: StopReason | undefined,
): Pick<
  ControlPlaneSchemas["Sandbox"],
  "on_timeout" | "idle_timeout_seconds" | "auto_start" | "stop_reason"
> {
  return {
    on_timeout: onTimeout,
    ...(idleTimeoutSeconds !== undefined && { idle_timeout_seconds: idleTimeoutSeconds }),
    auto_start: autoStart,
    ...(stopReason !== undefined && { stop_reason: stopReason }),
  };
}
