import type { BuiltTemplate } from "./accepted-builds.js";
import type { AgentAddress } from "./api.js";

export type KnownState = "running" | "paused" | "stopped" | "deleted";

/** A sandbox as its users know it: what was acknowledged, and what was asked for and never answered. */
export interface Entry extends AgentAddress {
  readonly id: string;
  readonly name: string;
  /** What it was made of, unless that is a template of the server's own. */
  readonly template: BuiltTemplate | undefined;
  state: KnownState;
  /** The state it may be in instead, where the server died before it answered. */
  perhaps: KnownState | undefined;
  expiresAt: string;
  mayHaveMoved: boolean;
  /** What the last acknowledged write put in its file. */
  written: string | undefined;
  /** What is in the file that a stop has saved. */
  saved: string | undefined;
  isBusy: boolean;
  /** The server that has it now. */
  url: string;
}

/** A sandbox as the server tells of it after a restart; undefined when it says there is none. */
export interface Found {
  readonly status: string;
  readonly name?: string;
  readonly expires_at?: string;
  readonly failure_reason?: string;
}

/** What is wrong about a sandbox after its server was killed and started again. */
export function contradictions(entry: Entry, found: Found | undefined): string[] {
  const possible = [entry.state, ...(entry.perhaps ? [entry.perhaps] : [])];
  if (found === undefined) {
    return possible.includes("deleted") ? [] : [`${entry.id} is gone; it was ${possible.join(" or ")}`];
  }
  if (entry.state === "deleted") return [`${entry.id} is there again; it was deleted`];
  const allowed = new Set<string>(possible.map((state) => (state === "stopped" ? "stopped" : "error")));
  return [
    ...(allowed.has(found.status) ? [] : [`${entry.id} is ${found.status}; it was ${possible.join(" or ")}`]),
    ...(found.status === "error" && !found.failure_reason ? [`${entry.id} has failed without a reason`] : []),
    ...(found.name === entry.name ? [] : [`${entry.id} is named ${found.name}, not ${entry.name}`]),
    ...(entry.mayHaveMoved || found.expires_at === entry.expiresAt
      ? []
      : [`${entry.id} expires at ${found.expires_at}, not at ${entry.expiresAt}`]),
  ];
}
