import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { TemplateFacts } from "./template-facts.js";

/** The secrets that a request brings, by name, with their values. Undefined if it has none and may be given none later. */
export type RequestedSecrets = Readonly<Record<string, ControlPlaneSchemas["Secret"]>> | undefined;

/** The secrets of a sandbox: those of its template, and those of the request to create it, which win. */
export function requestedSecrets(
  { built }: TemplateFacts,
  { egress, secrets }: { egress: { readonly internetAccess: boolean }; secrets: RequestedSecrets },
): RequestedSecrets {
  if (built?.secrets === undefined || !egress.internetAccess) return secrets;
  const named = Object.entries(built.secrets).map(([name, secret]) => [name, { ...secret, env: true }]);
  return { ...Object.fromEntries(named), ...secrets };
}

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
  /** The name of the stored secret whose value it has. Undefined if it came with its value. */
  readonly from?: string | undefined;
  readonly placeholder: string;
  /** Whether its value went with the server that had it, or with its stored secret. */
  readonly isLost: boolean;
}

/** A stored secret without its value. */
export interface StoredSecretFacts
  extends Pick<SecretFacts, "basic" | "headers" | "hosts" | "isLost" | "methods" | "name" | "paths"> {
  readonly createdAt: Date;
  /** When its value was last set. */
  readonly updatedAt: Date;
}

/** Describes a secret as the contract defines it. */
export const secretOnWire = (secret: SecretFacts): ControlPlaneSchemas["SecretFacts"] => ({
  ...rulesOnWire(secret),
  env: secret.env,
  ...(secret.from !== undefined && { from: secret.from }),
  placeholder: secret.placeholder,
});

/** Describes a stored secret as the contract defines it. */
export const storedSecretOnWire = (secret: StoredSecretFacts): ControlPlaneSchemas["StoredSecret"] => ({
  ...rulesOnWire(secret),
  created_at: secret.createdAt.toISOString(),
  updated_at: secret.updatedAt.toISOString(),
});

function rulesOnWire(secret: Omit<StoredSecretFacts, "createdAt" | "updatedAt">) {
  const { headers = {}, basic, methods, paths } = secret;
  const set = [...Object.keys(headers), ...(basic === undefined ? [] : ["authorization"])];
  const state: ControlPlaneSchemas["SecretState"] = secret.isLost ? "lost" : "ready";
  return {
    name: secret.name,
    hosts: [...secret.hosts],
    ...(set.length > 0 && { headers: set }),
    ...(methods && { methods: [...methods] }),
    ...(paths && { paths: [...paths] }),
    state,
  };
}
