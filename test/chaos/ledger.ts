import type { BuiltTemplate } from "./accepted-builds.js";
import type { AgentAddress } from "./api.js";

export type KnownState = "running" | "paused" | "stopped" | "deleted";

/** A sandbox, with what its users know of it: the changes that were acknowledged, and the one that was never answered. */
export interface Entry extends AgentAddress {
  readonly id: string;
  /** Undefined for one that was forked. */
  readonly name: string | undefined;
  /** The template that the sandbox was created from. Undefined for a template that comes with the server. */
  readonly template: BuiltTemplate | undefined;
  state: KnownState;
  /** The state that the sandbox may be in instead, if the server was killed before it answered. */
  perhaps: KnownState | undefined;
  expiresAt: string;
  mayHaveMoved: boolean;
  /** The text of the last write, if that was acknowledged. */
  written: string | undefined;
  /** The text in the file when the sandbox was stopped. */
  saved: string | undefined;
  /** The value of a Python variable. Undefined if it may have none or another one. */
  kept: string | undefined;
  isBusy: boolean;
  /** URL of the server that has the sandbox now. */
  url: string;
}

/** A sandbox as the server describes it after a restart. Undefined if the server has no such sandbox. */
export interface Found {
  readonly status: string;
  readonly name?: string;
  readonly expires_at?: string;
  readonly failure_reason?: string;
}

/** Lists what is wrong about a sandbox after its server was killed and started again. `goesOn`: whether a machine outlives its server. */
export function contradictions(entry: Entry, found: Found | undefined, goesOn = false): string[] {
  const possible: KnownState[] = [entry.state, ...(entry.perhaps ? [entry.perhaps] : [])];
  if (found === undefined) {
    return possible.includes("deleted") ? [] : [`${entry.id} is gone; it was ${possible.join(" or ")}`];
  }
  if (entry.state === "deleted") return [`${entry.id} is there again; it was deleted`];
  const allowed = new Set<string>(possible.map((state) => (goesOn || state === "stopped" ? state : "error")));
  return [
    ...(allowed.has(found.status)
      ? []
      : [
          `${entry.id} is ${found.status} (${found.failure_reason ?? "no reason"}); it was ${possible.join(" or ")}`,
        ]),
    ...(found.status === "error" && !found.failure_reason ? [`${entry.id} has failed without a reason`] : []),
    ...(found.name === entry.name ? [] : [`${entry.id} is named ${found.name}, not ${entry.name}`]),
    ...(entry.mayHaveMoved || found.expires_at === entry.expiresAt
      ? []
      : [`${entry.id} expires at ${found.expires_at}, not at ${entry.expiresAt}`]),
  ];
}
