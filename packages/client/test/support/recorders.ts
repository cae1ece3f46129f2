/** What observers of a client are told, and servers that give them something to be told of. */
import type { Hooks, Logger, LogLevel } from "../../src/index.js";
import { type Handler, json } from "./scripted-server.js";

export type Seen = { kind: string } & Record<string, unknown>;

/** Everything that hooks are told, in order. */
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

/** Everything that is logged, in order. */
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

/** A sandbox that runs. */
export const good: Handler = (_, response) => json(response, 200, { id: "abc", status: "running" });
/** Every request, with a status. */
export const refused =
  (status: number, headers = {}): Handler =>
  (_, response) =>
    json(response, status, { error: "no" }, headers);
