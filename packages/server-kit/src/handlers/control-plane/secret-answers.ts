import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";

/** The secrets that a request brings, by name, with their values. Undefined if it has none and may be given none later. */
export type RequestedSecrets = Readonly<Record<string, ControlPlaneSchemas["Secret"]>> | undefined;

/** A secret without its value. */
export interface SecretFacts {
  readonly name: string;
  readonly hosts: readonly string[];
  /** Headers that it sets, with `{value}` in place of the value. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The user of the `authorization` for Basic that it sets. */
  readonly basic: string | undefined;
  readonly methods: readonly string[] | undefined;
  readonly paths: readonly string[] | undefined;
  /** Whether the environment has a variable with the placeholder. */
  readonly env: boolean;
  readonly placeholder: string;
  /** Whether its value went with the server that had it. */
  readonly isLost: boolean;
}

/** Describes a secret as the contract defines it. */
export function secretOnWire(secret: SecretFacts): ControlPlaneSchemas["SecretFacts"] {
  const { headers = {}, basic, methods, paths } = secret;
  const set = [...Object.keys(headers), ...(basic === undefined ? [] : ["authorization"])];
  return {
    name: secret.name,
    hosts: [...secret.hosts],
    ...(set.length > 0 && { headers: set }),
    ...(methods && { methods: [...methods] }),
    ...(paths && { paths: [...paths] }),
    env: secret.env,
    placeholder: secret.placeholder,
    state: secret.isLost ? "lost" : "ready",
  };
}
