/** Hooks and a logger that record what they are given, and servers with answers of which they are told. */
import type { Hooks, Logger, LogLevel } from "../../src/index.js";
import { type Handler, json } from "./scripted-server.js";

export type Seen = { kind: string } & Record<string, unknown>;

/** Hooks that record everything they are given, in order. */
export function recording(): { hooks: Required<Hooks>; seen: Seen[] } {
  const seen: Seen[] = [];
  const note = (kind: string) => (event: object) => void seen.push({ kind, ...event });
  const hooks = {
    onRequest: note("request"),
    onResponse: note("response"),
    onRetry: note("retry"),
    onError: note("error"),
    onWarning: note("warning"),
  };
  return { hooks, seen };
}

/** A logger that records everything it is given, in order. */
export function recordingLogger(): {
  logger: Logger;
  lines: { level: LogLevel; fields: object; text: string }[];
} {
  const lines: { level: LogLevel; fields: object; text: string }[] = [];
  const line = (level: LogLevel) => (fields: object, text: string) =>
    void lines.push({ level, fields, text });
  return {
    logger: { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
    lines,
  };
}

/** Answers with a running sandbox. */
export const good: Handler = (_, response) => json(response, 200, { id: "abc", status: "running" });
/** Answers every request with a status and an error. */
export const refused =
  (status: number, headers = {}): Handler =>
  (_, response) =>
    json(response, status, { error: "no" }, headers);
