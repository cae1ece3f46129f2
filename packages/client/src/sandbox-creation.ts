import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { CallOptions } from "./call-options.js";
import { InvalidResponseError, invalidArgument } from "./errors.js";
import { given } from "./given.js";
import {
  checkBoolean,
  checkOneOf,
  checkSeconds,
  checkText,
  checkTexts,
  checkWhole,
  numberOr,
  requireWhole,
} from "./option-checks.js";
import { type Isolation, isolationLevels } from "./sandbox-record.js";
import { checkedVariables } from "./variables.js";

type CreateRequest = ControlPlaneSchemas["CreateSandboxRequest"];

export interface CreateSandboxOptions extends CallOptions {
  /** The template's name. Default: code-interpreter. */
  template?: string | undefined;
  /** The template's id, in place of its name. */
  templateId?: string | undefined;
  /** Seconds the sandbox lives, 1 to 86,400, whole. Default: `timeouts.lifetime`, else the server's own. */
  timeoutSeconds?: number | undefined;
  region?: string | undefined;
  /** Whether code in it reaches the internet. The cloud assumes true, the local backend false. */
  internetAccess?: boolean | undefined;
  /**
   * What it may reach, of the internet: names (`pypi.org`), all below one (`*.npmjs.org`), addresses, ranges, each with `:port`
   * if only that one is meant. `deny` wins; with `allow`, everything else is refused. A server that does not say that it
   * keeps to it is refused.
   */
  egress?: EgressLists | undefined;
  /** Environment variables of every execution in it. */
  env?: Readonly<Record<string, string>> | undefined;
  /** A name for people. */
  name?: string | undefined;
  /** Labels of your own. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** The weakest isolation to accept. A server that cannot give it, or does not say what it gave, is refused. */
  minIsolation?: Isolation | undefined;
  /** Whether it is deleted when a signal ends this process. Default: the client's `deleteOnSignal`. */
  deleteOnSignal?: boolean | undefined;
}

export interface EgressLists {
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
}

const longestLifetime = 86_400;

/** Refuses what no server accepts. */
export function createRequest(
  options: CreateSandboxOptions,
  defaultLifetime: number | undefined,
): CreateRequest {
  const { template, templateId, region, internetAccess, egress, env, name, metadata, minIsolation } = options;
  if (template !== undefined && templateId !== undefined) {
    throw invalidArgument("Both template and templateId are given.", "Give the name or the id.");
  }
  for (const [option, text] of Object.entries({ template, templateId, region, name }))
    checkText(option, text);
  checkBoolean("internetAccess", internetAccess);
  checkBoolean("deleteOnSignal", options.deleteOnSignal);
  checkSeconds("requestTimeout", options.requestTimeout);
  checkOneOf("minIsolation", minIsolation, isolationLevels);
  checkTexts("metadata", metadata);
  checkLists(egress, internetAccess);
  const seconds = options.timeoutSeconds ?? defaultLifetime;
  const made =
    templateId === undefined
      ? { template_name: template ?? "code-interpreter" }
      : { template_id: templateId };
  return {
    ...made,
    ...given({
      timeout_seconds: seconds === undefined ? undefined : lifetime(seconds, "timeoutSeconds"),
      region,
      internet_access: internetAccess,
      egress: egress && given({ allow: egress.allow?.slice(), deny: egress.deny?.slice() }),
      env_vars: env && checkedVariables(env, "env"),
      name,
      metadata: metadata === undefined ? undefined : { ...metadata },
      min_isolation: minIsolation,
    }),
  };
}

function checkLabels(metadata: CreateSandboxOptions["metadata"] = {}): void {
  for (const [label, value] of Object.entries(metadata))
    if (typeof value !== "string") throw invalidArgument(`The value of the label "${label}" must be text.`);
}

function checkLists(egress: EgressLists | undefined, internetAccess: boolean | undefined): void {
  if (egress === undefined) return;
  if (internetAccess === false)
    throw invalidArgument("egress says what of the internet is reached; internetAccess is false.");
  for (const [list, entries] of Object.entries(given({ allow: egress.allow, deny: egress.deny }))) {
    const isList =
      Array.isArray(entries) && entries.every((entry) => typeof entry === "string" && entry !== "");
    if (!isList) throw invalidArgument(`egress.${list} must be a list of names and addresses.`);
  }
}

export function lifetime(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= longestLifetime) return seconds;
  throw invalidArgument(
    `The lifetime of a sandbox is a whole number of seconds from 1 to ${longestLifetime}; it is ${seconds}.`,
  );
}

/** Throws unless the server said that it keeps to the lists: one that has never heard of them lets everything through. */
export function checkEgress(asked: EgressLists | undefined, got: unknown): void {
  if (asked === undefined || got !== undefined) return;
  throw new InvalidResponseError({
    summary: "The sandbox was to reach only what its egress lists allow; the server says nothing about them.",
    hint: "Use another backend, or leave egress out.",
    code: "EGRESS_NOT_MET",
  });
}

/** Throws unless the server said that it gave what was asked for. */
export function checkIsolation(asked: Isolation | undefined, got: Isolation | undefined): void {
  if (asked === undefined) return;
  if (got !== undefined && isolationLevels.indexOf(got) >= isolationLevels.indexOf(asked)) return;
  throw new InvalidResponseError({
    summary: `The sandbox was to be isolated by ${asked} at least; the server says ${got ?? "nothing about it"}.`,
    hint: "Use another backend, or ask for less with minIsolation.",
    code: "ISOLATION_NOT_MET",
  });
}
