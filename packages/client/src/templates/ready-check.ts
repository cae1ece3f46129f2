import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { checkKnown, type OptionNames, omitUndefined } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";

/**
 * How to check that a template's start command is ready: a port accepts connections, a URL answers 2xx, a file exists, a
 * process of this name runs, or a command exits with 0. Exactly one of these must be given.
 */
export interface ReadyCheck {
  port?: number | undefined;
  /** URL as seen from inside the sandbox. */
  url?: string | undefined;
  file?: string | undefined;
  process?: string | undefined;
  command?: string | undefined;
  /** Seconds until the check gives up. Default: the server's, which is 30. */
  timeoutSeconds?: number | undefined;
  /** Seconds between attempts. */
  intervalSeconds?: number | undefined;
}

const readyCheckNames: OptionNames<ReadyCheck> = {
  port: true,
  url: true,
  file: true,
  process: true,
  command: true,
  timeoutSeconds: true,
  intervalSeconds: true,
};

type WireCheck = ControlPlaneSchemas["ReadyCheck"];

export function wireReadyCheck(check: ReadyCheck): WireCheck {
  checkKnown("A readiness check", check, readyCheckNames);
  const { command, file, intervalSeconds, port, process, timeoutSeconds, url } = check;
  const kinds = Object.entries({ command, file, port, process, url }).filter(
    ([, value]) => value !== undefined,
  );
  const [only] = kinds;
  if (only === undefined || kinds.length > 1)
    throw invalidArgument("A readiness check has exactly one of port, url, file, process and command.");
  const [kind, value] = only;
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535))
    throw invalidArgument(`A port is a whole number from 1 to 65535; it is ${port}.`);
  if (port === undefined && (typeof value !== "string" || value.trim() === ""))
    throw invalidArgument(`The ${kind} of a readiness check is empty.`);
  for (const [name, seconds] of Object.entries({ intervalSeconds, timeoutSeconds })) {
    if (seconds !== undefined && !(seconds > 0))
      throw invalidArgument(`${name} of a readiness check must be a number of seconds above 0.`);
  }
  const times = omitUndefined({
    timeout: milliseconds(timeoutSeconds),
    interval: milliseconds(intervalSeconds),
  });
  if (port !== undefined) return { type: "port", port, ...times };
  if (url !== undefined) return { type: "url", url, ...times };
  if (file !== undefined) return { type: "file", path: file, ...times };
  // Send both names: HOPX's two SDKs use different ones.
  if (process !== undefined) return { type: "process", name: process, processName: process, ...times };
  return { type: "command", ...omitUndefined({ command }), ...times };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.max(1, Math.round(seconds * 1000));
}
