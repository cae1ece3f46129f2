/**
 * Checks of options, their names and their values, before anything is sent. `check…` accepts undefined, `require…` does not; errors
 * name the option.
 */

import { maskedValue } from "@cloud-sandbox/protocol";
import { limits } from "@cloud-sandbox/protocol/limits";
import { invalidArgument } from "../errors/errors.js";
import type { CallInit } from "../transport/openapi-client.js";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call and stops what it runs in the sandbox. The call rejects with an `AbortError`. */
  signal?: AbortSignal | undefined;
  /**
   * Seconds until the answer must have arrived. Default: `timeouts.requestSeconds`; longer for calls that run code or
   * transfer files.
   */
  requestTimeoutSeconds?: number | undefined;
}

export const callOptionNames: OptionNames<CallOptions> = { signal: true, requestTimeoutSeconds: true };

/**
 * The options of a call that has no others, in the form that openapi-fetch takes: `{ params, ...callInit(options) }`.
 * Throws for any other option.
 */
export function callInit<Options extends CallOptions>(
  options: (Options & Record<Exclude<keyof Options, keyof CallOptions>, never>) | undefined,
): CallInit {
  checkKnown<CallOptions>("This call", options, callOptionNames);
  return requestInit(options);
}

/** Like `callInit`, for calls that have more options, which they have checked themselves. */
export function requestInit(options: CallOptions | undefined, requestTimeout?: number): CallInit {
  const init: CallInit = {};
  if (options?.signal !== undefined) init.signal = options.signal;
  const seconds = options?.requestTimeoutSeconds ?? requestTimeout;
  if (seconds !== undefined) {
    checkSeconds("requestTimeoutSeconds", seconds);
    init.requestTimeout = seconds;
  }
  return init;
}

/** Throws unless the value is undefined or a non-empty string. */
export function checkText(name: string, value: unknown, longest = Number.POSITIVE_INFINITY): void {
  if (value !== undefined) requireText(name, value, longest);
}

/** Throws unless the value is a non-empty string. */
export function requireText(name: string, value: unknown, longest = Number.POSITIVE_INFINITY): void {
  if (typeof value === "string" && value.trim() !== "" && value.length <= longest) return;
  const most = longest === Number.POSITIVE_INFINITY ? "" : ` of at most ${longest} characters`;
  throw invalidArgument(`${name} must be text${most}, not empty; it is ${kindOf(value)}.`);
}

export function checkBoolean(name: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw invalidArgument(`${name} must be true or false; it is ${kindOf(value)}.`);
}

export function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw invalidArgument(`${name} must be a function; it is ${kindOf(value)}.`);
}

export function checkWhole(
  name: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (value !== undefined) requireWhole(name, value, least, most);
}

export function requireWhole(
  name: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  throw invalidArgument(`${name} must be a whole number, ${range}; it is ${numberOr(value)}.`);
}

export function checkSeconds(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value > 0)) return;
  throw invalidArgument(`${name} must be a number of seconds above 0; it is ${numberOr(value)}.`);
}

export function checkOneOf<Value>(name: string, value: Value | undefined, allowed: readonly Value[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw invalidArgument(`${name} must be one of ${allowed.join(", ")}; it is ${kindOf(value)}.`);
}

/** Throws unless the value is undefined or an object whose values are strings. */
export function checkTexts(name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidArgument(
      `${name} must be an object of strings; it is ${kindOf(value)}.`,
      "Write { NAME: value }.",
    );
  for (const [key, text] of Object.entries(value))
    if (typeof text !== "string")
      throw invalidArgument(`${name}.${key} must be text; it is ${kindOf(text)}.`);
}

export function numberOr(value: unknown): string {
  return typeof value === "number" ? String(value) : kindOf(value);
}

/** The kind of a value for an error message, never the value itself: it may be a secret. */
export function kindOf(value: unknown): string {
  if (value === "") return "empty";
  if (value === undefined || value === null) return String(value);
  return Array.isArray(value) ? "a list" : `of type ${typeof value}`;
}

/** The names of all options of a type. The compiler reports missing and superfluous names. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true };

/**
 * Throws for unknown options. JavaScript would silently ignore a misspelt one: a client created with `baseURL` would send
 * its key to the default server.
 */
export function checkKnown<Options extends object>(
  what: string,
  /** Null if they are missing where they may not be. */
  options: Options | null | undefined,
  names: OptionNames<Options>,
): void {
  if (options === undefined) return;
  // A list, or a text that a method has copied into an object, has members with numbers for names.
  if (typeof options !== "object" || options === null || Object.hasOwn(options, "0"))
    throw invalidArgument(
      `The options of ${what} must be an object.`,
      `Write { ${usual.find((name) => Object.hasOwn(names, name)) ?? Object.keys(names)[0]}: value }.`,
    );
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const meant = optionForWord(name, known) ?? closest(name, known);
    throw invalidArgument(
      `${what} has no option "${name.slice(0, 80)}".`,
      meant === undefined
        ? `Its options are ${known.join(", ")}.`
        : `Did you mean "${meant}"${unit(name, meant)}?`,
    );
  }
}

/** Options whose values are most often given without a name. */
const usual = ["apiKey", "language", "template", "workdir"];

/** Other libraries count in milliseconds. */
function unit(name: string, meant: string): string {
  const isOther = /(ms|millis|milliseconds|timeout)$/i.test(name) && meant.endsWith("Seconds");
  return isOther ? ", in seconds" : "";
}

/** The option name most similar to `name`, by shared pairs of letters; undefined if none is similar enough. */
function closest(name: string, names: readonly string[]): string | undefined {
  const asked = pairsOf(name);
  const similarity = (known: string): number => {
    const pairs = pairsOf(known);
    const shared = [...pairs].filter((pair) => asked.has(pair)).length;
    return (2 * shared) / (pairs.size + asked.size);
  };
  const [best] = [...names].sort((one, other) => similarity(other) - similarity(one));
  return best !== undefined && similarity(best) >= 0.4 ? best : undefined;
}

function pairsOf(name: string): Set<string> {
  const letters = name.toLowerCase();
  return new Set(
    Array.from({ length: Math.max(letters.length - 1, 1) }, (_, at) => letters.slice(at, at + 2)),
  );
}

/** Words of other libraries for our options, in small letters without "_". Of several options the first that there is counts. */
const meanings: ReadonlyArray<readonly [option: string, words: string]> = [
  ["workdir", "cwd dir folder"],
  ["env", "environment environmentvariables variables vars"],
  ["timeoutSeconds", "ttl lifetime timelimit timeout timeoutms"],
  ["language", "runtime kernel interpreter"],
  ["template", "runtime image snapshot"],
  ["context", "session sessionid"],
  ["memoryMb", "memory ram"],
  ["vcpu", "cpu cpus vcpus"],
  ["limits", "resources memory ram memorymb cpu cpus vcpus"],
  ["metadata", "labels tags"],
  ["mounts", "volumes"],
  ["internetAccess", "network"],
  ["baseUrl", "url apiurl endpoint domain host"],
];

/** The option, one of `names`, that other libraries call `name`. Undefined if there is none. */
function optionForWord(name: string, names: readonly string[]): string | undefined {
  const word = name.toLowerCase().replaceAll("_", "");
  return meanings.find(([option, words]) => names.includes(option) && words.split(" ").includes(word))?.[0];
}

type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** A copy of `fields` without undefined values, because an option that was not given must not be sent. */
export function omitUndefined<Fields extends object>(fields: Fields): Present<Fields> {
  const present: Present<Fields> = { ...fields };
  for (const key in present) {
    if (present[key] === undefined) delete present[key];
  }
  return present;
}

/**
 * Seconds that a call waits beyond the time limit of its program, so that the server ends the program before the client
 * gives up.
 */
export const margin = 30;
/** The longest time limit, in seconds, of code and commands that do not run in the background. */
export const longestExecution: number = limits.executionSeconds;
/** The longest lifetime of a sandbox and time limit of a streamed command, in seconds. */
const longestLifetime: number = limits.sandboxSeconds;
/** Assumed slowest connection, in bytes per second. Sets the timeout of transfers. */
export const slowestTransfer = 256 * 1024;

export function runningTimeout(timeout: number, name = "timeoutSeconds"): number {
  if (Number.isInteger(timeout) && timeout >= 1 && timeout <= longestExecution) return timeout;
  throw invalidArgument(
    `${name} must be a whole number of seconds from 1 to ${longestExecution}; it is ${timeout}.`,
    "For longer work, use executeBackground() or commands.runBackground().",
  );
}

/** Checks and returns a sandbox's lifetime in seconds. */
export function lifetime(seconds: number, option: string): number {
  requireWhole(option, seconds, 1, longestLifetime);
  return seconds;
}

/** Returns `id`; throws if it is empty, "." or "..", which would change the path of the URL it is put into. */
export function identifier(of: keyof typeof lists, id: string): string {
  if (typeof id === "string" && id.trim() !== "" && id !== "." && id !== "..") return id;
  const what = `id of ${article[of]} ${of}`;
  throw invalidArgument(
    typeof id === "string"
      ? `"${id}" is not a valid ${what}.`
      : `The ${what} must be text; it is ${kindOf(id)}.`,
    `${lists[of]} shows those that exist.`,
  );
}

const lists = {
  sandbox: "client.sandboxes.list()",
  template: "client.templates.list()",
  execution: "sandbox.processes.list()",
  volume: "client.volumes.list()",
  secret: "client.secrets.list()",
  snapshot: "client.snapshots.list()",
};
const article = { sandbox: "a", template: "a", execution: "an", volume: "a", secret: "a", snapshot: "a" };

/** Checks environment variables. Refuses invalid names, and the mask that servers show in place of a secret value. */
export function checkedVariables(
  variables: Readonly<Record<string, string>>,
  option = "variables",
): Record<string, string> {
  checkTexts(option, variables ?? null);
  for (const [name, value] of Object.entries(variables)) {
    variableName(name);
    if (value !== maskedValue) continue;
    throw invalidArgument(
      `The value of ${name} is the mask that the server shows in place of a secret.`,
      "Leave the variable out of merge(), which keeps its value, or give the value itself.",
    );
  }
  return { ...variables };
}

export function variableName(name: string): string {
  if (typeof name !== "string")
    throw invalidArgument(
      `The name of a variable must be text; it is ${kindOf(name)}.`,
      "Write set(name, value), or merge({ NAME: value }) for several.",
    );
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  throw invalidArgument(
    `"${name}" is not a valid name of an environment variable.`,
    'A name is letters, digits and "_", and begins with no digit.',
  );
}
