import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { Isolation } from "../config/isolation.js";
import { isolationLevels } from "../config/isolation.js";
import { InvalidResponseError } from "../errors/errors.js";
import type { CreateSandboxOptions, EgressLists, SandboxLimits } from "./sandbox-creation.js";

/** Throws unless the server's answer to "create sandbox" confirms `egress`, `limits`, `mounts` and `minIsolation`. */
export function checkGranted(
  { egress, limits, minIsolation, mounts }: CreateSandboxOptions,
  made: ControlPlaneSchemas["Sandbox"],
): void {
  checkIsolation(minIsolation, made.isolation);
  checkEgress(egress, made.egress);
  checkLimits(limits, made.limits);
  checkMounts(mounts, made.mounts);
}

/**
 * Throws if egress lists were asked for and the answer has none: a server that does not know the field allows all
 * traffic.
 */
function checkEgress(asked: EgressLists | undefined, got: unknown): void {
  if (asked === undefined || got !== undefined) return;
  throw new InvalidResponseError({
    summary: "The server does not confirm the sandbox's egress lists, so it may ignore them.",
    hint: "Use another backend, or leave egress out.",
    code: "EGRESS_NOT_MET",
  });
}

/** Throws if limits were asked for and the answer has none: a server that does not know the field uses the template's. */
function checkLimits(asked: SandboxLimits | undefined, got: unknown): void {
  if (asked === undefined || got !== undefined) return;
  throw new InvalidResponseError({
    summary: "The server does not confirm the sandbox's limits, so it may ignore them.",
    hint: "Use another backend, or leave limits out: the template decides then.",
    code: "LIMITS_NOT_MET",
  });
}

/** Throws if the answer lacks a mount that was asked for: a server that does not know the field mounts nothing. */
function checkMounts(asked: object | undefined, got: object | undefined): void {
  if (Object.keys(asked ?? {}).every((path) => Object.hasOwn(got ?? {}, path))) return;
  throw new InvalidResponseError({
    summary: "The server does not confirm the sandbox's mounts, so it may ignore them.",
    hint: "Use another backend, or leave mounts out. A sandbox that was there already keeps its mounts.",
    code: "MOUNTS_NOT_MET",
  });
}

/** Throws if the isolation in the answer is missing or weaker than the one asked for. */
export function checkIsolation(asked: Isolation | undefined, got: Isolation | undefined): void {
  if (asked === undefined) return;
  if (got !== undefined && isolationLevels.indexOf(got) >= isolationLevels.indexOf(asked)) return;
  throw new InvalidResponseError({
    summary: `The sandbox must be isolated by ${asked} at least; the server ${got === undefined ? "does not state its isolation" : `states ${got}`}.`,
    hint: "Use another backend, or ask for less with minIsolation.",
    code: "ISOLATION_NOT_MET",
  });
}
