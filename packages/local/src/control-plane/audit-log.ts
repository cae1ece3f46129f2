import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { AuditLogError } from "../errors/local-errors.js";

/** At this size the file is renamed to `FILE.1`, that one to `FILE.2` and so on, and a new one is begun. */
const defaultMaxBytes = 64 * 1024 * 1024;
/** Full files that are kept. */
const generations = 9;
/** Characters of a field. All that callers can make longer is cut. */
const longestField = 200;

/** A request of a caller whose key or token was accepted. Nothing of what was sent or answered is in it. */
export interface AuditEntry {
  /** When the request came. */
  readonly time: Date;
  /** The name of the API key; `owner` is the server's own key. */
  readonly key: string;
  /** The operation of one of the contracts, such as `createSandbox` or `executeCode`. */
  readonly operation: string;
  readonly sandbox: string | undefined;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Address of the connection. Behind a proxy it is the proxy's. */
  readonly from: string | undefined;
  /** The header `X-Forwarded-For`, which is true only if a proxy sets it. */
  readonly forwardedFor: string | undefined;
}

/** Appends to a file, as lines of JSON, who changed or ran what. */
export class AuditLog {
  #file: number;
  #size: number;
  #isFailing = false;

  /** @throws AuditLogError when the file cannot be written to. */
  constructor(
    private readonly path: string,
    private readonly log: (message: string) => void,
    private readonly maxBytes = defaultMaxBytes,
  ) {
    try {
      this.#file = openSync(path, "a", 0o600);
      this.#size = fstatSync(this.#file).size;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AuditLogError(
        `The audit log cannot be written (${reason}). Choose another file with --audit-log.`,
        { cause },
      );
    }
  }

  /** Appends an entry. A full disk is reported in the server's log, and does not stop the server. */
  note({ time, key, operation, sandbox, status, from, forwardedFor }: AuditEntry): void {
    const entry = {
      time: time.toISOString(),
      key: cut(key),
      operation,
      sandbox: cut(sandbox),
      status,
      from: cut(from),
      forwarded_for: cut(forwardedFor),
    };
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    try {
      if (this.#size > 0 && this.#size + line.length > this.maxBytes) this.#rotate();
      writeSync(this.#file, line);
      this.#size += line.length;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.log(`The audit log cannot be written, and entries are lost: ${String(error)}`);
      this.#isFailing = true;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #rotate(): void {
    for (let number = generations - 1; number >= 1; number -= 1) {
      const older = `${this.path}.${number}`;
      if (existsSync(older)) renameSync(older, `${this.path}.${number + 1}`);
    }
    renameSync(this.path, `${this.path}.1`);
    const next = openSync(this.path, "a", 0o600);
    closeSync(this.#file);
    this.#file = next;
    this.#size = 0;
  }
}

const cut = (text: string | undefined): string | undefined => text?.slice(0, longestField);
