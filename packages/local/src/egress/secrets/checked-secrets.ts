import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { authorityVariables } from "@cloud-sandbox/server-kit/execution";
import type { SecretRules } from "../../store/secret-repository.js";
import type { EgressPolicy } from "../egress-policy.js";
import { pathsOverlap } from "./path-patterns.js";
import { hostPattern, Secret } from "./secret.js";
import { SecretValue } from "./secret-value.js";
import { isShared } from "./shared-suffixes.js";

/** What placeholders begin with, unless a request chooses them. No real credential does. */
export const placeholderPrefix = "csb_secret_";

/** Credentials that are never sent, because requests are signed with them: there is nothing to replace. By their usual names. */
const signing: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:AWS_SECRET_ACCESS_KEY|AWS_SECRET_KEY|AWS_SESSION_TOKEN|R2_SECRET_ACCESS_KEY|MINIO_SECRET_KEY)$/,
    "AWS signs requests with it (SigV4)",
  ],
  [/_(?:CONSUMER|ACCESS_TOKEN)_SECRET$/, "OAuth 1 signs requests with it"],
  [/(?:PRIVATE_KEY|SIGNING_SECRET|SIGNING_KEY|WEBHOOK_SECRET|HMAC_KEY)$/, "it signs, and is never sent"],
  [/^(?:GOOGLE_APPLICATION_CREDENTIALS|GOOGLE_CREDENTIALS)$/, "Google's accounts of services sign with it"],
  [/^AZURE_STORAGE_(?:ACCOUNT_)?(?:KEY|CONNECTION_STRING)$/, "Azure signs requests with it (SharedKey)"],
];

/** Variables that programs need as they are. */
const takenVariable = /^(?:PATH|HOME|SHELL|USER|LANG|TERM|PWD|TMPDIR|NODE_OPTIONS|LD_.*|CLOUD_SANDBOX_.*)$/;
const isTaken = (name: string): boolean =>
  takenVariable.test(name) || /_proxy$/i.test(name) || authorityVariables.includes(name);

/** Headers that say how a message is sent, and whom it is for. */
const fixedHeader =
  /^(?:host|content-length|content-encoding|connection|keep-alive|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|http2-settings|proxy-.*)$/i;

/** What a secret is checked with. */
export interface SecretContext {
  readonly policy: EgressPolicy;
  /** Finds a stored secret. Throws the 404 problem if there is none. */
  readonly find: (name: string) => RuledValue;
}

/** A value, and where and how it may be sent. */
export interface RuledValue {
  readonly rules: SecretRules;
  readonly value: SecretValue;
}

/**
 * The secrets of a request to create a sandbox. Throws a 400 problem that names the field that is wrong, and never a value.
 */
export function checkedSecrets(
  requested: Readonly<Record<string, ControlPlaneSchemas["Secret"]>>,
  context: SecretContext,
): readonly Secret[] {
  const secrets: Secret[] = [];
  for (const [name, spec] of Object.entries(requested))
    secrets.push(checkedSecret(name, spec, context, secrets));
  return secrets;
}

/** A secret beside the `others` of its sandbox. One of the same name, which it replaces, gives it its placeholder. */
export function checkedSecret(
  name: string,
  spec: ControlPlaneSchemas["Secret"],
  { policy, find }: SecretContext,
  others: readonly Secret[],
): Secret {
  requireUsable(policy);
  const field = `secrets.${name}`;
  const reason = signing.find(([pattern]) => pattern.test(name.toUpperCase()))?.[1];
  if (reason !== undefined)
    throw unusable(
      `${field} cannot work by replacing a placeholder: ${reason}. Do such requests outside of the sandbox.`,
    );
  const { from, env = true } = spec;
  const { rules, value } = from === undefined ? carried(field, spec) : named(field, spec, find(from));
  const { hosts, headers, basic, methods, paths } = rules;
  if (env && isTaken(name))
    throw invalid(
      `${field} has the name of a variable that programs need.`,
      "Choose another name, or set env to false.",
    );
  for (const [index, host] of hosts.entries()) checkHost(`${field}.hosts[${index}]`, host, policy);
  for (const [header, text] of Object.entries(headers ?? {})) {
    if (fixedHeader.test(header))
      throw invalid(`${field}.headers sets ${header}, which says how a request is sent.`);
    if (!text.includes("{value}"))
      throw invalid(`${field}.headers.${header} has no {value}, in whose place the value is put.`);
  }
  const set = Object.keys(headers ?? {}).map((header) => header.toLowerCase());
  if (new Set(set).size < set.length || (basic !== undefined && set.includes("authorization")))
    throw invalid(`${field} sets one header twice.`);
  const replaced = others.find((other) => other.name === name);
  const placeholder =
    rules.placeholder ?? replaced?.placeholder ?? placeholderPrefix + randomBytes(16).toString("hex");
  const secret = new Secret({ name, hosts, headers, basic, methods, paths, env, from, placeholder }, value);
  for (const other of others) if (other !== replaced) requireApart(field, secret, other);
  if (value.reveal()?.includes(placeholder)) throw invalid(`${field}.placeholder is a part of the value.`);
  return secret;
}

/** A secret that a request carries. */
export function carried(field: string, spec: ControlPlaneSchemas["Secret"]): RuledValue {
  const { value, hosts, headers, basic, methods, paths, placeholder } = spec;
  if (value === undefined || hosts === undefined)
    throw invalid(
      `${field} needs a value and hosts, or from.`,
      "Give the credential and its hosts, or name a stored secret.",
    );
  return {
    rules: { hosts, headers, basic, methods, paths, placeholder },
    value: new SecretValue(value),
  };
}

/** A stored secret that a request names. */
function named(
  field: string,
  { hosts, ...spec }: ControlPlaneSchemas["Secret"],
  stored: RuledValue,
): RuledValue {
  const other = Object.keys(spec).find((key) => key !== "from" && key !== "env");
  if (other !== undefined)
    throw invalid(`${field} has from and ${other}, but its rules are those of the stored secret.`);
  if (stored.value.reveal() === undefined)
    throw new Problem(
      409,
      "CONFLICT",
      `The value of the stored secret ${spec.from} was lost with a restart of the server.`,
      { hint: "Set it again. With a key (serve --secrets-key-file), the server keeps values." },
    );
  const strange = hosts?.find((host) => !stored.rules.hosts.includes(host));
  if (strange !== undefined)
    throw invalid(
      `${field}.hosts has ${strange}, which is not a host of the stored secret ${spec.from}.`,
      "Leave hosts out for all of its hosts.",
    );
  return hosts ? { ...stored, rules: { ...stored.rules, hosts } } : stored;
}

/** Throws unless this server may hold values, and the sandbox has the proxy that puts them in. */
function requireUsable(policy: EgressPolicy): void {
  if (!policy.internetAccess)
    throw invalid(
      "secrets are used on the way to the internet, but internet_access is false.",
      "Set internet_access to true, or leave secrets out.",
    );
  if (/\*|\b(?:http|net|stream|tls)/i.test(process.env.NODE_DEBUG ?? ""))
    throw new Problem(
      400,
      "SECRETS_UNAVAILABLE",
      "This server takes no secrets, because NODE_DEBUG makes it print what it sends.",
      {
        hint: "Its operator starts it without NODE_DEBUG.",
      },
    );
}

function checkHost(field: string, host: string, policy: EgressPolicy): void {
  const pattern = hostPattern(host);
  const name = host.replace(/:\d+$/, "").replace(/\.$/, "").toLowerCase();
  const below = name.startsWith("*.") ? name.slice(2) : undefined;
  if (!pattern) throw invalid(`${field} is not a host.`, hostHint);
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || pattern.isSubnet)
    throw invalid(`${field} is an address, for which no certificate of a name can be checked.`, hostHint);
  if (name === "*" || !(below ?? name).includes("."))
    throw invalid(`${field} must be a name with two labels at least.`, hostHint);
  if (below !== undefined && isShared(below))
    throw invalid(
      `${field} is refused, because strangers can have names below ${below}.`,
      "Name the hosts one by one.",
    );
  const destination = {
    host: below === undefined ? name : `any.${below}`,
    port: Number(/:(\d+)$/.exec(host)?.[1] ?? 443),
  };
  const refusal = policy.refuseSecretHost(destination);
  if (refusal !== undefined)
    throw invalid(
      `${field} cannot be reached: ${refusal}`,
      "A secret does not open its hosts: allow them in egress.",
    );
}

const hostHint =
  "Write a name (api.github.com), append :port for another port than 443, or write *.name for all names below one.";

/** Throws if some request would get one header from both, or if a placeholder of one is a part of the other's. */
function requireApart(field: string, one: Secret, other: Secret): void {
  if (one.placeholder.includes(other.placeholder) || other.placeholder.includes(one.placeholder))
    throw invalid(`${field}.placeholder is not told apart from that of secrets.${other.name}.`);
  const header = [...one.setHeaders.keys()].find((name) => other.setHeaders.has(name));
  if (header !== undefined && hostsOverlap(one, other) && requestsOverlap(one, other))
    throw invalid(
      `${field} and secrets.${other.name} both set ${header} for one host.`,
      "Give them different hosts, methods or paths.",
    );
}

function hostsOverlap(one: Secret, other: Secret): boolean {
  const isIn = (host: string, secret: Secret): boolean => {
    const port = Number(/:(\d+)$/.exec(host)?.[1] ?? 443);
    return secret.isFor({ host: host.replace(/:\d+$/, "").replace(/^\*/, "any").toLowerCase(), port });
  };
  return one.hosts.some((host) => isIn(host, other)) || other.hosts.some((host) => isIn(host, one));
}

function requestsOverlap(one: Secret, other: Secret): boolean {
  const share = <Item>(
    left: readonly Item[] | undefined,
    right: readonly Item[] | undefined,
    same: (a: Item, b: Item) => boolean,
  ) => !left || !right || left.some((a) => right.some((b) => same(a, b)));
  return share(one.methods, other.methods, (a, b) => a === b) && share(one.paths, other.paths, pathsOverlap);
}

const invalid = (message: string, hint?: string): Problem =>
  new Problem(400, "INVALID_REQUEST", message, hint === undefined ? {} : { hint });

const unusable = (message: string): Problem => new Problem(400, "SECRET_UNUSABLE", message);
