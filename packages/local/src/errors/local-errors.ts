import type { RuntimeReport } from "../runtime/sandbox-runtime.js";

/** No runtime can isolate a sandbox on this machine. There is no weaker way: nothing is started. */
export class RuntimeUnavailableError extends Error {
  override readonly name = "RuntimeUnavailableError";

  constructor(readonly reports: readonly RuntimeReport[]) {
    const reasons = reports
      .map((report) => (report.usable ? "" : `${report.reason}; ${report.fix}`))
      .join(". ");
    super(`No sandbox runtime can be used here: ${reasons}.`);
  }
}

/** An option of the operator about egress cannot be what was meant. */
export class InvalidEgressError extends Error {
  override readonly name = "InvalidEgressError";
}

/** What is to be an origin is not written as one. */
export class InvalidOriginError extends Error {
  override readonly name = "InvalidOriginError";

  constructor(origin: string) {
    super(
      `The origin ${JSON.stringify(origin)} cannot be allowed. Write it as browsers send it, with scheme, host and port only, as in https://app.example or http://localhost:5173.`,
    );
  }
}

/** The address cannot be listened on. */
export class PortUnavailableError extends Error {
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

/** A control plane has ended, and not all that is to outlive it could be kept. */
export class NotKeptError extends Error {
  override readonly name = "NotKeptError";

  constructor(
    /** Sandboxes whose files could not be saved: the next start tells of each that it has failed. */
    readonly sandboxes: number,
    /** Changes, such as ends of sandboxes, that the data directory does not know of. */
    readonly changes: number,
  ) {
    super(
      `Not all could be kept in the data directory: ${sandboxes} sandboxes could not be stopped with their files, ${changes} changes were not recorded. Free some room there before the next start.`,
    );
  }
}

/** What is to outlive the process cannot be kept there. */
export class DataDirectoryError extends Error {
  override readonly name = "DataDirectoryError";
}
