import type { RuntimeReport } from "../runtime/sandbox-runtime.js";

/** An error that keeps a control plane from starting, or from ending with all its data. The message says what to do. */
export abstract class LocalControlPlaneError extends Error {}

/** Thrown when the file of the audit log cannot be written to. */
export class AuditLogError extends LocalControlPlaneError {
  override readonly name = "AuditLogError";
}

/** `setup` could not install what people expect of a code interpreter. */
export class SetupError extends LocalControlPlaneError {
  override readonly name = "SetupError";
}

/** No runtime can isolate a sandbox on this machine. Nothing is started: there is no fallback to a weaker isolation. */
export class RuntimeUnavailableError extends LocalControlPlaneError {
  override readonly name = "RuntimeUnavailableError";

  constructor(readonly reports: readonly RuntimeReport[]) {
    const reasons = reports
      .map((report) => (report.usable ? "" : `${report.reason}; ${report.fix}`))
      .map((reason, index) => (index === 0 ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)))
      .join(". ");
    super(`No sandbox runtime can be used here: ${reasons}.`);
  }
}

/** `leaveRunning` was set with a runtime whose sandboxes end with their server, or without a data directory. */
export class CannotLeaveRunningError extends LocalControlPlaneError {
  override readonly name = "CannotLeaveRunningError";

  constructor(runtime: string) {
    super(
      `Sandboxes can be left running only by the runtimes docker and kubernetes with a data directory, in which the next server finds them; this server has the runtime ${runtime}. Set --runtime docker or kubernetes and --data-dir, or leave --leave-running out.`,
    );
  }
}

/** Options that only the runtime `docker` or `kubernetes` has were set with another one. */
export class RuntimeOptionsError extends LocalControlPlaneError {
  override readonly name = "RuntimeOptionsError";

  constructor(needed: string, options: readonly string[], runtime: string) {
    const named = new Intl.ListFormat("en").format(options);
    super(
      `Only the runtime ${needed} has ${named}, and this server has the runtime ${runtime}. Set --runtime ${needed}, or leave ${named} out.`,
    );
  }
}

/** Records cannot be kept in the cluster. */
export class ClusterRecordsError extends LocalControlPlaneError {
  override readonly name = "ClusterRecordsError";

  constructor(reason: string, options?: ErrorOptions) {
    super(
      `Records cannot be kept in the cluster: ${reason}. The server's account needs the rights of the Role in deploy/kubernetes/sandboxes.yaml; or leave --kubernetes-records out.`,
      options,
    );
  }
}

/** `kubernetes.records` was set together with what it excludes, or a newer release has written the records. */
export class InvalidRecordsError extends LocalControlPlaneError {
  override readonly name = "InvalidRecordsError";
}

/** An egress option given by the operator is invalid. */
export class InvalidEgressError extends LocalControlPlaneError {
  override readonly name = "InvalidEgressError";
}

/** A file that `--trust-ca` names has no certificates of authorities. */
export class InvalidAuthorityError extends LocalControlPlaneError {
  override readonly name = "InvalidAuthorityError";

  constructor(path: string, cause: Error) {
    super(
      `The authorities of ${path} cannot be trusted: ${cause.message}. Name a file with certificates in PEM, between the lines BEGIN CERTIFICATE and END CERTIFICATE.`,
      { cause },
    );
  }
}

/** The file of `--secrets-key-file` cannot be used. */
export class InvalidSecretsKeyError extends LocalControlPlaneError {
  override readonly name = "InvalidSecretsKeyError";

  constructor(path: string, cause: Error) {
    super(
      `The key of ${path} cannot seal secrets: ${cause.message}. Make one outside of the data directory: (umask 077; openssl rand -hex 32 > FILE).`,
      { cause },
    );
  }
}

/** The directory of `--home-files` cannot be given to sandboxes. */
export class InvalidHomeFilesError extends LocalControlPlaneError {
  override readonly name = "InvalidHomeFilesError";

  constructor(path: string, reason: string) {
    super(
      `Sandboxes cannot get the files of ${JSON.stringify(path.slice(0, 200))}: ${reason}. Give --home-files or CLOUD_SANDBOX_HOME_FILES a directory with only what each home directory is to begin with, such as .npmrc and .config/pip/pip.conf.`,
    );
  }
}

/** `CLOUD_SANDBOX_POOL` is not a number of machines. */
export class InvalidPoolError extends LocalControlPlaneError {
  override readonly name = "InvalidPoolError";

  constructor(value: string) {
    super(
      `${JSON.stringify(value.slice(0, 80))} is not a valid value for CLOUD_SANDBOX_POOL. Set it to a whole number from 0 to 64, or to nothing for the default.`,
    );
  }
}

/** A directory of `--allow-mount` cannot be mounted. */
export class InvalidMountDirectoryError extends LocalControlPlaneError {
  override readonly name = "InvalidMountDirectoryError";

  constructor(
    path: string,
    reason: string,
    fix = "Give --allow-mount or CLOUD_SANDBOX_ALLOW_MOUNT absolute paths of directories",
  ) {
    super(`${JSON.stringify(path.slice(0, 200))} cannot be mounted in sandboxes: ${reason}. ${fix}.`);
  }
}

/** An origin given by the operator is not written as browsers send origins. */
export class InvalidOriginError extends LocalControlPlaneError {
  override readonly name = "InvalidOriginError";

  constructor(origin: string) {
    super(
      `The origin ${JSON.stringify(origin)} cannot be allowed. Write it as browsers send it, with scheme, host and port only, as in https://app.example or http://localhost:5173.`,
    );
  }
}

/** The address that the operator says callers use is not an address of a server. */
export class InvalidPublicUrlError extends LocalControlPlaneError {
  override readonly name = "InvalidPublicUrlError";

  constructor(url: string) {
    super(
      `${JSON.stringify(url.slice(0, 80))} cannot be the public address of this server. Write scheme, host and port only, as in https://sandboxes.example.`,
    );
  }
}

/** The control plane cannot listen on the requested address and port. */
export class PortUnavailableError extends LocalControlPlaneError {
  override readonly name = "PortUnavailableError";

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    const reasons: Record<string, string> = {
      EADDRINUSE: `port ${port} is in use; choose another with --port, or --port 0 for any free one`,
      EACCES: `port ${port} may not be used without privileges; choose one above 1023, or --port 0 for any free one`,
      EADDRNOTAVAIL: "this machine does not have that address; choose one that it has with --host",
      ENOTFOUND: "that name has no address; choose another with --host",
    };
    super(`Cannot listen on ${host}: ${reasons[cause.code ?? ""] ?? cause.message}.`, { cause });
  }
}

/** The control plane has closed, but some sandboxes or changes could not be saved. */
export class NotKeptError extends LocalControlPlaneError {
  override readonly name = "NotKeptError";

  constructor(
    /** Number of sandboxes whose files could not be saved. The next start reports each as failed. */
    readonly sandboxes: number,
    /** Number of changes, such as deletions of sandboxes, that were not recorded. */
    readonly changes: number,
    /** Whether records are objects of a cluster. */
    isInCluster = false,
  ) {
    super(
      isInCluster
        ? `${changes} changes were not recorded, because the API server of the cluster did not answer. The next server that leads finds out which sandboxes have ended.`
        : `Some data could not be saved in the data directory: the files of ${sandboxes} sandboxes are lost, and ${changes} changes were not recorded. Free some disk space there before the next start.`,
    );
  }
}

/** The data directory cannot be used: it is in use, full, damaged or not writable. */
export class DataDirectoryError extends LocalControlPlaneError {
  override readonly name = "DataDirectoryError";
  /** `DATA_DIRECTORY_IN_USE` if another process uses the directory: choose another one, or wait until that process ends. */
  readonly code: "DATA_DIRECTORY_IN_USE" | "DATA_DIRECTORY_UNUSABLE";

  constructor(message: string, { isInUse = false, ...options }: ErrorOptions & { isInUse?: boolean } = {}) {
    super(message, options);
    this.code = isInUse ? "DATA_DIRECTORY_IN_USE" : "DATA_DIRECTORY_UNUSABLE";
  }
}
