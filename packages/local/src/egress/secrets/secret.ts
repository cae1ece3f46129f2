import type { SecretFacts } from "@cloud-sandbox/server-kit/handlers";
import type { Destination } from "../destination.js";
import { DestinationPattern } from "../destination-pattern.js";
import { matchesPath } from "./path-patterns.js";
import type { SecretValue } from "./secret-value.js";

/** A secret of one sandbox, with its value. */
export class Secret implements SecretFacts {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly basic: string | undefined;
  readonly methods: readonly string[] | undefined;
  readonly paths: readonly string[] | undefined;
  readonly env: boolean;
  readonly from: string | undefined;
  /** The id of the stored secret's value. Undefined if it came with its value. */
  readonly valueId: string | undefined;
  readonly placeholder: string;
  readonly #patterns: readonly DestinationPattern[];
  readonly #value: SecretValue | undefined;

  /** `value` is undefined if it went with the server that had it. */
  constructor(facts: Omit<SecretFacts, "isLost">, value: SecretValue | undefined) {
    const { name, hosts, headers, basic, methods, paths, env, from, placeholder } = facts;
    this.name = name;
    this.hosts = hosts;
    this.headers = headers;
    this.basic = basic;
    this.methods = methods;
    this.paths = paths;
    this.env = env;
    this.from = from;
    this.valueId = from === undefined ? undefined : value?.id;
    this.placeholder = placeholder;
    this.#value = value;
    this.#patterns = hosts.flatMap((host) => hostPattern(host) ?? []);
  }

  get isLost(): boolean {
    return this.value === undefined;
  }

  /** The credential, undefined if it is lost. */
  get value(): string | undefined {
    return this.#value?.reveal();
  }

  /** Whether it may be sent to a host and port. */
  isFor(destination: Destination): boolean {
    return this.#patterns.some((pattern) => pattern.matchesName(destination));
  }

  /** Whether it may be sent in a request with this method to this path. */
  allows(method: string, path: string): boolean {
    const { methods, paths } = this;
    if (methods && !methods.includes(method)) return false;
    return paths === undefined || paths.some((pattern) => matchesPath(pattern, path));
  }

  /** The headers that it sets, in lower case, with `{value}` in place of the value. */
  get setHeaders(): ReadonlyMap<string, string> {
    const set = new Map(
      Object.entries(this.headers ?? {}).map(([name, text]) => [name.toLowerCase(), text] as const),
    );
    if (this.basic !== undefined) set.set("authorization", "");
    return set;
  }
}

/** The pattern of a secret's host. Without a port it is for the one of HTTPS alone. */
export function hostPattern(host: string): DestinationPattern | undefined {
  const hasPort = /:\d+$/.test(host);
  return DestinationPattern.parse(hasPort ? host : `${host}:443`);
}
