import { ownAuthorities } from "./authorities/own-authorities.js";
import { RuntimeUnavailableError } from "./errors/local-errors.js";
import { readHomeFiles, remarksOn } from "./home-directory.js";
import type { LocalControlPlaneOptions } from "./local-control-plane-options.js";
import type { RuntimeReport, SandboxRuntime } from "./runtime/sandbox-runtime.js";
import { chooseRuntime, dockerImages, dockerRuntime, runtimeVariable } from "./runtimes.js";

export type UsableRuntime = Extract<RuntimeReport, { usable: true }>;

/** The runtime that the options name. Rejects with why it cannot be used. */
export async function chosenRuntime(
  options: LocalControlPlaneOptions,
  mayAct?: () => boolean,
): Promise<{ readonly runtime: SandboxRuntime; readonly report: UsableRuntime }> {
  const { holdsProcess = true, withoutSystemCallFilter = false, rootInside = false, kubernetes } = options;
  const trusted = ownAuthorities(options.trustCa);
  for (const problem of trusted.problems) options.log?.(problem);
  const homeFiles = readHomeFiles(options.homeFiles);
  for (const remark of remarksOn(homeFiles)) options.log?.(remark);
  const chosen = await chooseRuntime(runtimeName(options), {
    holdsProcess,
    withoutSystemCallFilter,
    rootInside,
    kubernetes,
    mayAct,
    signal: options.signal,
    log: options.log,
    dockerImages: dockerImages(options.dockerImage),
    dockerRuntime: dockerRuntime(options.dockerRuntime),
    authorities: trusted.pem,
    homeFiles,
  });
  if (!chosen.runtime) throw new RuntimeUnavailableError(chosen.reports);
  return chosen;
}

/** The name of the runtime: that of the option, else of the environment. */
export const runtimeName = (options: LocalControlPlaneOptions): string =>
  options.runtime ?? fromEnvironment(runtimeVariable) ?? "auto";

function fromEnvironment(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}
