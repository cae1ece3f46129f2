import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callOptionNames } from "../config/call-options.js";
import { type Isolation, isolationLevels } from "../config/isolation.js";
import { checkKnown, type OptionNames } from "../config/known-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import {
  checkBoolean,
  checkOneOf,
  checkSeconds,
  checkText,
  checkTexts,
  checkWhole,
  numberOr,
} from "../config/option-checks.js";
import { lifetime } from "../config/time-limits.js";
import { checkedVariables } from "../config/variables.js";
import { invalidArgument } from "../errors/errors.js";

type CreateRequest = ControlPlaneSchemas["CreateSandboxRequest"];

/** What a sandbox is made with. */
export interface CreateSandboxOptions extends CallOptions {
  /** The template's name. Default: code-interpreter. */
  template?: string | undefined;
  /** The template's id, in place of its name. */
  templateId?: string | undefined;
  /** Seconds the sandbox lives, 1 to 86,400, whole. Default: `timeouts.lifetimeSeconds`, else the server's own. */
  timeoutSeconds?: number | undefined;
  /** Where it runs. Default: the server's choice; a server with one region ignores it. */
  region?: string | undefined;
  /** Whether code in it reaches the internet. Default: the server's, which is true in the cloud, and locally unless it was set otherwise. */
  internetAccess?: boolean | undefined;
  /**
   * What it may reach, of the internet: names (`pypi.org`), all below one (`*.npmjs.org`), addresses, ranges, each with `:port`
   * if only that one is meant. `deny` wins; with `allow`, everything else is refused. A server that does not say that it
   * keeps to it is refused.
   */
  egress?: EgressLists | undefined;
  /**
   * What it may use, where that is not what its template says. More than the server has is a `ValidationError`
   * (LIMITS_UNAVAILABLE); a server that does not say that it holds to them, such as the cloud, is refused.
   */
  limits?: SandboxLimits | undefined;
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

/** What a sandbox may use at most. */
export interface SandboxLimits {
  /** MiB, 128 or more, whole. */
  memoryMb?: number | undefined;
  /** Processors, 0.05 or more; parts of one too. */
  vcpu?: number | undefined;
}

/** What a sandbox may reach of the internet. */
export interface EgressLists {
  /** With this list, everything that is not on it is refused. */
  allow?: readonly string[] | undefined;
  /** What is refused, also where `allow` has it. */
  deny?: readonly string[] | undefined;
}

const createOptionNames: OptionNames<CreateSandboxOptions> = {
  ...callOptionNames,
  template: true,
  templateId: true,
  timeoutSeconds: true,
  region: true,
  internetAccess: true,
  egress: true,
  limits: true,
  env: true,
  name: true,
  metadata: true,
  minIsolation: true,
  deleteOnSignal: true,
};

/** Refuses what no server accepts. */
export function createRequest(
  options: CreateSandboxOptions,
  defaultLifetime: number | undefined,
): CreateRequest {
  checkKnown("create", options, createOptionNames);
  checkKnown("limits", options.limits, { memoryMb: true, vcpu: true });
  checkKnown("egress", options.egress, { allow: true, deny: true });
  const { template, templateId, region, internetAccess, egress, limits, env, name, metadata, minIsolation } =
    options;
  if (template !== undefined && templateId !== undefined) {
    throw invalidArgument("Both template and templateId are given.", "Give the name or the id.");
  }
  for (const [option, text] of Object.entries({ template, templateId, region, name }))
    checkText(option, text);
  checkBoolean("internetAccess", internetAccess);
  checkBoolean("deleteOnSignal", options.deleteOnSignal);
  checkSeconds("requestTimeoutSeconds", options.requestTimeoutSeconds);
  checkOneOf("minIsolation", minIsolation, isolationLevels);
  checkTexts("metadata", metadata);
  checkLists(egress, internetAccess);
  checkWhole("limits.memoryMb", limits?.memoryMb, 128, 1_048_576);
  const { vcpu } = limits ?? {};
  if (vcpu !== undefined && !(typeof vcpu === "number" && vcpu >= 0.05 && vcpu <= 1024))
    throw invalidArgument(`limits.vcpu must be a number from 0.05 to 1024; it is ${numberOr(vcpu)}.`);
  const seconds = options.timeoutSeconds ?? defaultLifetime;
  const made =
    templateId === undefined
      ? { template_name: template ?? "code-interpreter" }
      : { template_id: templateId };
  return {
    ...made,
    ...omitUndefined({
      timeout_seconds: seconds === undefined ? undefined : lifetime(seconds, "timeoutSeconds"),
      region,
      internet_access: internetAccess,
      egress: egress && omitUndefined({ allow: egress.allow?.slice(), deny: egress.deny?.slice() }),
      limits: limits && omitUndefined({ memory_mb: limits.memoryMb, vcpu: limits.vcpu }),
      env_vars: env && checkedVariables(env, "env"),
      name,
      metadata: metadata === undefined ? undefined : { ...metadata },
      min_isolation: minIsolation,
    }),
  };
}

function checkLists(egress: EgressLists | undefined, internetAccess: boolean | undefined): void {
  if (egress === undefined) return;
  if (internetAccess === false)
    throw invalidArgument("egress says what of the internet is reached; internetAccess is false.");
  for (const [list, entries] of Object.entries(omitUndefined({ allow: egress.allow, deny: egress.deny }))) {
    const isList =
      Array.isArray(entries) && entries.every((entry) => typeof entry === "string" && entry !== "");
    if (!isList) throw invalidArgument(`egress.${list} must be a list of names and addresses.`);
  }
}
