import { chosenRuntime, runtimeName } from "./chosen-runtime.js";
import { CannotLeaveRunningError, InvalidRecordsError } from "./errors/local-errors.js";
import type { LocalControlPlane, LocalControlPlaneOptions } from "./local-control-plane-options.js";
import { defaultHost } from "./local-defaults.js";
import { requireOptionsOf } from "./options-of-runtimes.js";
import { holdingProcess } from "./runtime/host/unref-child.js";

/**
 * Starts the sandbox cloud on this machine: the control plane's and the agents' HTTP APIs on one port.
 *
 * @throws RuntimeUnavailableError when no sandbox can be isolated here; its message says what to install or allow.
 * @throws InvalidMountDirectoryError when an entry of `allowMounts` is not a directory that sandboxes can mount.
 * @throws InvalidHomeFilesError when `homeFiles` is not a directory of a few small files.
 * @throws InvalidOriginError when an entry of `corsOrigins` is not an origin.
 * @throws InvalidPublicUrlError when `publicUrl` is not the address of a server.
 * @throws InvalidPoolError when `pool` is absent and CLOUD_SANDBOX_POOL is invalid.
 * @throws InvalidEgressError when `internet` or an entry of `egress` is invalid.
 * @throws CannotLeaveRunningError when `leaveRunning` is set without a data directory, or with the runtime bubblewrap.
 * @throws RuntimeOptionsError when an option of `kubernetes`, or of docker, is set with another runtime.
 * @throws PortUnavailableError when the port is in use or may not be used.
 * @throws AuditLogError when the file of the audit log cannot be written to.
 * @throws DataDirectoryError when the data directory is in use or cannot be written.
 */
export async function startLocalControlPlane(
  options: LocalControlPlaneOptions = {},
): Promise<LocalControlPlane> {
  return holdingProcess(() => start(options));
}

async function start(options: LocalControlPlaneOptions): Promise<LocalControlPlane> {
  requireOptionsOf(runtimeName(options), options);
  if (options.kubernetes?.records) return startInCluster(options);
  const { holdsProcess = true } = options;
  const { runtime, report } = await chosenRuntime(options);
  try {
    if (options.leaveRunning && !(runtime.adopt && options.dataDir !== undefined))
      throw new CannotLeaveRunningError(runtime.name);
    // A server that is embedded in a program gets its first request right away: prepare now. That request reports a failure.
    if (!holdsProcess) runtime.prepare().catch(() => undefined);
    const { serveOnPort } = await import("./control-plane-server.js");
    return await serveOnPort(options, runtime, report);
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** Starts one of several servers whose records are in the cluster. */
async function startInCluster(options: LocalControlPlaneOptions): Promise<LocalControlPlane> {
  if (options.dataDir !== undefined)
    throw new InvalidRecordsError(
      "Records are kept either in the cluster or in a data directory. Leave --data-dir or --kubernetes-records out.",
    );
  const [{ startReplica }, { serve, internetText }] = await Promise.all([
    import("./cluster/replica.js"),
    import("./control-plane-server.js"),
  ]);
  const { runtime: chosen, ...replica } = await startReplica(
    { host: defaultHost, ...options },
    {
      runtime: async (mayAct) => {
        const { runtime, report } = await chosenRuntime(options, mayAct);
        return { runtime, report, close: () => runtime.close() };
      },
      serve: ({ runtime, report }, store, apiKey, open) =>
        serve({ ...options, apiKey, leaveRunning: true }, runtime, report, store, open),
    },
  );
  const internet = internetText(options);
  return { ...replica, runtime: chosen.runtime.name, isolation: chosen.report.isolation, internet };
}
