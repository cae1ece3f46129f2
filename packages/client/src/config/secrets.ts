import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { InvalidResponseError, invalidArgument } from "../errors/errors.js";
import { checkKnown, omitUndefined, requireText } from "./options.js";

/**
 * A credential that code in the sandbox uses without having it. Inside there is a placeholder. The server puts the value in its place in
 * the headers `authorization` (also within Basic) and `x-api-key` of requests over TLS to the hosts.
 */
export interface Secret {
  /** The credential: 8 to 8,192 printable ASCII characters. It is sent to the server, and read back by nobody. */
  value: string;
  /** Where it may be sent: `api.github.com`, `gitlab.example.com:8443`, or `*.example.com`. Default port: 443. At most 32. */
  hosts: readonly string[];
  /** Headers to set in each request to the hosts, with `{value}` in place of the value: `{ "private-token": "{value}" }`. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Sets `authorization` for Basic in each request, with this user and the value as password. */
  basic?: string | undefined;
  /** Methods of the requests that may have it, as `GET`. Default: all. */
  methods?: readonly string[] | undefined;
  /** Paths of the requests that may have it: `/v1` is that path, `/v1/*` all that begins with `/v1/`. Default: all. */
  paths?: readonly string[] | undefined;
  /** Whether programs find the placeholder in an environment variable of the secret's name. Default: true. */
  env?: boolean | undefined;
  /** The placeholder, for programs that check a credential's form. At least 16 characters. Default: a random one. */
  placeholder?: string | undefined;
}

/** A secret of a sandbox that the server has stored (`client.secrets`). Its rules are those of the stored one, and so is its value, always. */
export interface NamedSecret {
  /** The name of the stored secret. */
  from: string;
  /** Some of its hosts. Default: all. */
  hosts?: readonly string[] | undefined;
  /** Whether programs find the placeholder in an environment variable of the secret's name. Default: true. */
  env?: boolean | undefined;
}

/** The secrets of a sandbox, by name, which is that of the environment variable with the placeholder. At most 64. */
export type Secrets = Readonly<Record<string, Secret | NamedSecret>>;

/** The secrets as a request has them. Errors never name a value. */
export function secretsOnWire(secrets: Secrets): ControlPlaneSchemas["Secrets"] {
  if (typeof secrets !== "object" || secrets === null)
    throw invalidArgument("secrets must be an object with a secret for each name.");
  return Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [name, secretOnWire(`secrets.${name}`, secret)]),
  );
}

/** A secret as a request has it. */
export function secretOnWire(what: string, secret: Secret | NamedSecret): ControlPlaneSchemas["Secret"] {
  if (typeof secret !== "object" || secret === null)
    throw invalidArgument(`${what} must be an object with a value and hosts, or with from.`);
  if (!("from" in secret)) return carriedOnWire(what, secret);
  checkKnown(what, secret, { from: true, hosts: true, env: true });
  const { from, hosts, env = true } = secret;
  requireText(`${what}.from`, from);
  return { from, env, ...omitUndefined({ hosts: hosts && [...hosts] }) };
}

/** A secret with its value, as a request has it. */
export function carriedOnWire(what: string, secret: Secret) {
  checkKnown(what, secret, {
    value: true,
    hosts: true,
    headers: true,
    basic: true,
    methods: true,
    paths: true,
    env: true,
    placeholder: true,
  });
  const { value, hosts, env = true, ...rules } = secret;
  if (typeof value !== "string" || !Array.isArray(hosts))
    throw invalidArgument(`${what} must have a value, which is text, and hosts, which is a list.`);
  return { value, hosts: [...hosts], env, ...(omitUndefined(rules) as object) };
}

/** Throws if the answer to a create lacks a secret that was asked for: the placeholder of a server without secrets goes nowhere. */
export function checkSecrets(
  asked: Secrets | undefined,
  got: readonly { readonly name: string }[] | undefined,
): void {
  if (asked === undefined) return;
  const names = new Set(got?.map(({ name }) => name));
  if (got !== undefined && Object.keys(asked).every((name) => names.has(name))) return;
  throw new InvalidResponseError({
    summary: "The server does not confirm the sandbox's secrets, so it may ignore them.",
    hint: "Use another backend, or leave secrets out. A sandbox that was there already keeps its secrets: set them with sandbox.secrets.",
    code: "SECRETS_NOT_MET",
  });
}
