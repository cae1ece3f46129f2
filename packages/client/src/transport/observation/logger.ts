/** Log levels, from most to least detailed. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Structured data of a log line. Never contains secrets. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Receives log lines: `console`, pino, or any object with these methods. */
export interface Logger {
  /** Logs each request and its answer. */
  debug(fields: LogFields, message: string): void;
  /** Logs a request that the server refused. */
  info(fields: LogFields, message: string): void;
  /** Logs a call that is retried, and failed cleanup. */
  warn(fields: LogFields, message: string): void;
  /** Logs a call that failed because of the network, the server or a time limit. */
  error(fields: LogFields, message: string): void;
}

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** `logger` without the lines below `level`. */
export function leveled(logger: Logger, level: LogLevel): Logger {
  const least = logLevels.indexOf(level);
  const line =
    (name: LogLevel): Logger["debug"] =>
    (fields, message) => {
      if (logLevels.indexOf(name) >= least) logger[name](fields, message);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
