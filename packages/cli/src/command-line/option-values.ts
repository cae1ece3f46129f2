import { limits } from "@cloud-sandbox/server-kit/limits";
import type { Mounts } from "cloud-sandbox";
import { InvalidArgumentError } from "commander";

/** Reads a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number, unit = ""): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`The value must be a whole number${unit} from ${least} to ${most}.`);
  };
}

/** Reads a number, which may be a fraction. */
export function fraction(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`The value must be a number from ${least} to ${most}.`);
  };
}

/** Reads on or off. */
export function onOrOff(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw new InvalidArgumentError("The value must be on or off.");
}

/** Collects NAME=value of an option that may be repeated. */
export function pair(text: string, others: Readonly<Record<string, string>> = {}): Record<string, string> {
  const end = text.indexOf("=");
  if (end < 1) throw new InvalidArgumentError("The value must be NAME=value.");
  return { ...others, [text.slice(0, end)]: text.slice(end + 1) };
}

/** Collects environment variables, NAME=value or NAME alone, whose value comes from this command's environment. */
export function variable(
  text: string,
  others: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const value = process.env[text];
  if (text.includes("=")) return pair(text, others);
  if (value !== undefined) return { ...others, [text]: value };
  throw new InvalidArgumentError("It is not set in this environment; write NAME=value.");
}

/** Collects SOURCE:PATH[:ro|:copy] of an option that may be repeated. A source that begins with a slash is a directory of the server's machine. */
function mount(text: string, others: Mounts = {}): Mounts {
  const [, source, path, mode] = /^([^:]+):(\/[^:]*)(:ro|:copy)?$/.exec(text) ?? [];
  if (source === undefined || path === undefined)
    throw new InvalidArgumentError(
      "The value must be VOLUME:PATH or /DIRECTORY:PATH, with :ro at its end to read only, or :copy to write to a copy, as in cache:/data or /home/me/repo:/repo:copy.",
    );
  if (!/^(\/|[\w.-]+$)/.test(source) || source.startsWith("."))
    throw new InvalidArgumentError(
      `"${source}" is no name of a volume, and a directory must be given with its whole path, as in /home/me/repo:${path}.`,
    );
  if (mode === ":copy") return { ...others, [path]: { host: wholePath(source, path), mode: "copy" } };
  const what = source.startsWith("/") ? { host: source } : { volume: source };
  return { ...others, [path]: { ...what, readOnly: mode === ":ro" } };
}

function wholePath(source: string, path: string): string {
  if (source.startsWith("/")) return source;
  throw new InvalidArgumentError(
    `Only directories can be copied, and ${source} is a volume. Leave :copy out, or give a directory, as in /home/me/repo:${path}:copy.`,
  );
}

/** The option of what is mounted in a sandbox, for commander. */
export const mountOption = [
  "--mount <source:path>",
  "mount a volume, or a directory of the server, as in cache:/data or /home/me/repo:/repo:ro; :copy instead of :ro lets code write to a copy; can be repeated",
  mount,
] as const;

/** Collects the values of an option that may be repeated. */
export function listed(text: string, others: readonly string[] = []): string[] {
  return [...others, text];
}

/** Seconds, in number alone or with a unit: 90, 90s, 15m, 2h. */
export function lifetime(text: string): number {
  const seconds = secondsOf(text);
  if (seconds >= 1 && seconds <= limits.sandboxSeconds) return seconds;
  throw new InvalidArgumentError("The value must be from 1 s to 24 h, as in 90, 15m or 2h.");
}

/** Seconds that an API key is valid: as a lifetime, also in days. */
export function keyLifetime(text: string): number {
  const seconds = secondsOf(text);
  if (seconds >= 1 && seconds <= 3650 * 86_400) return seconds;
  throw new InvalidArgumentError("The value must be from 1 s to 3650 days, as in 12h or 90d.");
}

/** NaN if the text is not a time. */
function secondsOf(text: string): number {
  const [, amount, unit = ""] = /^(\d+)([smhd]?)$/.exec(text) ?? [];
  return Number(amount) * ({ "": 1, s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? Number.NaN);
}
