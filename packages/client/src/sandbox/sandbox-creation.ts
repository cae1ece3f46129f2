import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type Isolation, isolationLevels } from "../config/isolation.js";
import {
  type CallOptions,
  callOptionNames,
  checkBoolean,
  checkedVariables,
  checkKnown,
  checkOneOf,
  checkSeconds,
  checkText,
  checkTexts,
  checkWhole,
  lifetime,
  numberOr,
  type OptionNames,
  omitUndefined,
} from "../config/options.js";
import { checkSecrets, type Secrets, secretsOnWire } from "../config/secrets.js";
import { InvalidResponseError, invalidArgument } from "../errors/errors.js";
import { checkSleep, type SleepOptions, sleepOnWire, sleepOptionNames } from "./sleep-options.js";
import { type SnapshotReference, snapshotName } from "./snapshots.js";
import { type Mounts, mountsOnWire } from "./volumes.js";

type CreateRequest = ControlPlaneSchemas["CreateSandboxRequest"];

/** Options of `sandboxes.create`. */
export interface CreateSandboxOptions extends CallOptions, SleepOptions {
  /** Name of the template. Default: `code-interpreter`. */
  template?: string | undefined;
  /** Id of the template. Cannot be combined with `template`. */
  templateId?: string | undefined;
  /**
   * A snapshot to begin with, by its id, its name or its record: its files and environment variables, template and limits. Cannot be
   * combined with `template`.
   */
  snapshot?: SnapshotReference | undefined;
  /**
   * Takes from the snapshot only files of `/workspace`, `/tmp` and the home directory, with which sandboxes of every runtime begin.
   * Default: all that its sandbox had changed.
   */
  filesOnly?: boolean | undefined;
  /**
   * Lifetime of the sandbox in seconds, a whole number from 1 to 86,400. Default: `timeouts.lifetimeSeconds`, else the
   * server's default.
   */
  timeoutSeconds?: number | undefined;
  /** Region to run in. Default: the server's choice. A server with only one region ignores it. */
  region?: string | undefined;
  /**
   * Whether code in the sandbox can reach the internet. Default: the server's, which is true in the cloud and, unless
   * configured otherwise, locally.
   */
  internetAccess?: boolean | undefined;
  /**
   * Internet destinations that the sandbox may reach: a host name (`pypi.org`), all names below one (`*.npmjs.org`), an
   * IP address or an address range, each optionally with `:port`. `deny` wins over `allow`; with `allow`, everything else
   * is refused. Fails if the server does not confirm the lists.
   */
  egress?: EgressLists | undefined;
  /**
   * Memory and processor limits in place of the template's. More than the server has is a `ValidationError`
   * (LIMITS_UNAVAILABLE). Fails if the server does not confirm the limits, as the cloud does not.
   */
  limits?: SandboxLimits | undefined;
  /**
   * What to mount, by its path in the sandbox: `{ "/data": volume }`, `{ "/data": { volume: "cache", readOnly: true } }`, or
   * `{ "/repo": { host: "/home/me/repo", readOnly: true } }` for a directory of the server's machine. Fails if the server does
   * not confirm them.
   */
  mounts?: Mounts | undefined;
  /**
   * Credentials that code in the sandbox uses without having them, by the name of the environment variable that has a placeholder:
   * `{ GITHUB_TOKEN: { value, hosts: ["api.github.com"] } }`. With `{}` the sandbox has none yet, and `sandbox.secrets` can give it
   * some. Fails if the server does not confirm them.
   */
  secrets?: Secrets | undefined;
  /** Environment variables for every execution in the sandbox. */
  env?: Readonly<Record<string, string>> | undefined;
  /** A display name. */
  name?: string | undefined;
  /** Labels: any keys and values of your own. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** The weakest isolation to accept. Fails if the server cannot give it, or does not state the isolation. */
  minIsolation?: Isolation | undefined;
  /** Whether the sandbox is deleted when a signal ends this process. Default: the client's `deleteOnSignal`. */
  deleteOnSignal?: boolean | undefined;
}

/** Upper limits on what a sandbox may use. */
export interface SandboxLimits {
  /** Memory in MiB, a whole number from 128. */
  memoryMb?: number | undefined;
  /** Processors, from 0.05; fractions are allowed. */
  vcpu?: number | undefined;
}

/**
 * Which internet destinations a sandbox may reach. An entry is a name, `*.name`, an address or a range, with `:port` for that port only.
 * For hosts that have a secret it may limit requests: `GET,HEAD api.github.com/repos/*`.
 */
export interface EgressLists {
  /** If given, every destination that is not on this list is refused. */
  allow?: readonly string[] | undefined;
  /** Destinations that are refused, even if `allow` has them. */
  deny?: readonly string[] | undefined;
  /**
   * Whether programs that connect to what neither list names wait until `sandbox.egress.decide` answers, 60 s at most. An event
   * `egress.held` of `client.events` tells each. Default: false.
   */
  ask?: boolean | undefined;
}

/** Options of `sandboxes.getOrCreate`. */
export type NamedSandboxOptions = Omit<CreateSandboxOptions, "deleteOnSignal" | "limits" | "name">;

const namedOptionNames: OptionNames<NamedSandboxOptions> = {
  ...callOptionNames,
  ...sleepOptionNames,
  template: true,
  templateId: true,
  snapshot: true,
  filesOnly: true,
  timeoutSeconds: true,
  region: true,
  internetAccess: true,
  egress: true,
  mounts: true,
  secrets: true,
  env: true,
  metadata: true,
  minIsolation: true,
};
const createOptionNames: OptionNames<CreateSandboxOptions> = {
  ...namedOptionNames,
  limits: true,
  name: true,
  deleteOnSignal: true,
};

/** The request body of "create sandbox" that finds the sandbox of this name, if there is one. */
export function namedRequest(
  name: string,
  options: NamedSandboxOptions,
  defaultLifetime: number | undefined,
): CreateRequest {
  checkKnown("getOrCreate", options, namedOptionNames);
  return { ...createRequest({ ...options, name }, defaultLifetime), get_or_create: true };
}

/** The request body of "create sandbox". Throws for options that no server accepts. */
export function createRequest(
  options: CreateSandboxOptions,
  defaultLifetime: number | undefined,
): CreateRequest {
  checkKnown("create", options, createOptionNames);
  checkKnown("limits", options.limits, { memoryMb: true, vcpu: true });
  checkKnown("egress", options.egress, { allow: true, deny: true, ask: true });
  const { template, templateId, region, internetAccess, egress, limits, mounts, env, name, metadata } =
    options;
  const { minIsolation, secrets, snapshot } = options;
  if (template !== undefined && templateId !== undefined) {
    throw invalidArgument("Both template and templateId are given.", "Give the name or the id.");
  }
  if (snapshot !== undefined && (template ?? templateId) !== undefined)
    throw invalidArgument("Both a snapshot and a template are given.", "A snapshot has its own template.");
  for (const [option, text] of Object.entries({ template, templateId, region, name }))
    checkText(option, text);
  checkBoolean("internetAccess", internetAccess);
  checkBoolean("deleteOnSignal", options.deleteOnSignal);
  checkBoolean("filesOnly", options.filesOnly);
  checkSeconds("requestTimeoutSeconds", options.requestTimeoutSeconds);
  checkOneOf("minIsolation", minIsolation, isolationLevels);
  checkTexts("metadata", metadata);
  checkLists(egress, internetAccess);
  checkWhole("limits.memoryMb", limits?.memoryMb, 128, 1_048_576);
  const { vcpu } = limits ?? {};
  if (vcpu !== undefined && !(typeof vcpu === "number" && vcpu >= 0.05 && vcpu <= 1024))
    throw invalidArgument(`limits.vcpu must be a number from 0.05 to 1024; it is ${numberOr(vcpu)}.`);
  const seconds = options.timeoutSeconds ?? defaultLifetime;
  return {
    ...madeFrom(options),
    ...omitUndefined({
      timeout_seconds: seconds === undefined ? undefined : lifetime(seconds, "timeoutSeconds"),
      region,
      internet_access: internetAccess,
      egress: egress && listsOnWire(egress),
      limits: limits && omitUndefined({ memory_mb: limits.memoryMb, vcpu: limits.vcpu }),
      mounts: mounts && mountsOnWire(mounts),
      secrets: secrets && secretsOnWire(secrets),
      env_vars: env && checkedVariables(env, "env"),
      name,
      metadata: metadata === undefined ? undefined : { ...metadata },
      min_isolation: minIsolation,
      files_only: options.filesOnly,
    }),
    ...sleepOnWire(options),
  };
}

function madeFrom({
  template = "code-interpreter",
  templateId,
  snapshot,
}: CreateSandboxOptions): Pick<CreateRequest, "snapshot" | "template_id" | "template_name"> {
  if (snapshot !== undefined) return { snapshot: snapshotName(snapshot) };
  return templateId === undefined ? { template_name: template } : { template_id: templateId };
}

/** The lists as a request has them. */
export const listsOnWire = ({ allow, deny, ask }: EgressLists): ControlPlaneSchemas["EgressLists"] =>
  omitUndefined({ allow: allow?.slice(), deny: deny?.slice(), ask });

/** Throws unless the lists have names and addresses, and there is internet access that they limit. */
export function checkLists(egress: EgressLists | undefined, internetAccess: boolean | undefined): void {
  if (egress === undefined) return;
  if (internetAccess === false)
    throw invalidArgument(
      "egress cannot be combined with internetAccess: false, which refuses all destinations.",
    );
  for (const [list, entries] of Object.entries(omitUndefined({ allow: egress.allow, deny: egress.deny }))) {
    const isList =
      Array.isArray(entries) && entries.every((entry) => typeof entry === "string" && entry !== "");
    if (!isList) throw invalidArgument(`egress.${list} must be a list of names and addresses.`);
  }
  checkBoolean("egress.ask", egress.ask);
}

/** Throws unless the server's answer to "create sandbox" confirms what the options ask for. */
export function checkGranted(asked: CreateSandboxOptions, made: ControlPlaneSchemas["Sandbox"]): void {
  const { egress, limits, minIsolation, mounts, secrets } = asked;
  checkIsolation(minIsolation, made.isolation);
  checkEgress(egress, made.egress);
  checkLimits(limits, made.limits);
  checkMounts(mounts, made.mounts);
  checkSecrets(secrets, made.secrets);
  checkSleep(asked, made);
}

/**
 * Throws if egress lists were asked for and the answer has none: a server that does not know the field allows all
 * traffic.
 */
function checkEgress(asked: EgressLists | undefined, got: EgressLists | undefined): void {
  if (asked === undefined || (got !== undefined && (!asked.ask || got.ask))) return;
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

/**
 * Throws if the answer lacks a mount that was asked for: a server that does not know the field mounts nothing, and one that does not
 * know copies would let the sandbox write to the directory.
 */
function checkMounts(asked: Mounts = {}, got: ControlPlaneSchemas["Mounts"] = {}): void {
  const isMet = ([path, mount]: [string, Mounts[string]]): boolean =>
    Object.hasOwn(got, path) && (!("mode" in mount) || mount.mode !== "copy" || got[path]?.mode === "copy");
  if (Object.entries(asked).every(isMet)) return;
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
