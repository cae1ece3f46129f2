import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const places = [
  process.env.HELM_BIN || join(homedir(), ".cache", "helm-4.1.4"),
  ...(process.env.PATH ?? "").split(delimiter),
];
const program = places.map((place) => join(place, "helm")).find((path) => existsSync(path));

/** The directory of helm. Undefined if there is none. */
export const helmDirectory = program && dirname(program);

/** A newer kubectl than the cluster's, which "get-helm" puts beside helm. Undefined if there is none. */
export const newerKubectl = places.map((place) => join(place, "kubectl")).find((path) => existsSync(path));

export const chart = fileURLToPath(new URL("../../../deploy/helm", import.meta.url));

/** Why the chart cannot be rendered here. Undefined if it can. */
export function withoutHelm(): string | undefined {
  return program === undefined ? 'there is no helm ("test/support/kubernetes/get-helm" gets it)' : undefined;
}

/** Runs helm. Resolves with what it prints; rejects with what it says on standard error. */
export async function helm(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program ?? "helm", args)).stdout;
}

/** The values as options, as in `--set-json images.server="…"`. */
export function valueOptions(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [
    "--set-json",
    `${name}=${JSON.stringify(value)}`,
  ]);
}
