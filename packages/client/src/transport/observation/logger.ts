/** From all there is to say to failures alone. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What is known about what a line of the log tells: names, numbers and texts, and never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where lines of the log go: `console`, pino, or anything that takes an object and a text. */
export interface Logger {
  /** For each request and its answer. */
  debug(fields: LogFields, message: string): void;
  /** For a request that the server refused. */
  info(fields: LogFields, message: string): void;
  /** For a call that is tried again, and a sandbox that could not be deleted. */
  warn(fields: LogFields, message: string): void;
  /** For a call that failed for good. */
  error(fields: LogFields, message: string): void;
}

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** `logger` from `level` on. */
export function leveled(logger: Logger, level: LogLevel): Logger {
  const least = logLevels.indexOf(level);
  const line =
    (name: LogLevel): Logger["debug"] =>
    (fields, message) => {
      if (logLevels.indexOf(name) >= least) logger[name](fields, message);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
