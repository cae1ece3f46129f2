import { expect } from "vitest";
import { isSandboxError, type Sandbox } from "../../src/index.js";

/** Lets a test pass a value of a wrong type, as a program in JavaScript can. */
export const wrong = (value: unknown) => value as never;

export type Case<Subject> = [what: string, call: (subject: Subject) => unknown, names: string];

/** Cases of wrong values for `signal` and `requestTimeoutSeconds`, which all calls take. */
export const everywhere = (
  name: string,
  call: (options: never) => (sandbox: Sandbox) => unknown,
): Case<Sandbox>[] => [
  [`${name}, a signal that is none`, call(wrong({ signal: "stop" })), "signal"],
  [`${name}, no time at all`, call(wrong({ requestTimeoutSeconds: 0 })), "requestTimeoutSeconds"],
  [`${name}, a time that is text`, call(wrong({ requestTimeoutSeconds: "5" })), "requestTimeoutSeconds"],
];

/** Expects that a call rejects with a ValidationError whose message contains `names`. */
export async function refused(call: () => unknown, names: string): Promise<void> {
  let thrown: unknown;
  try {
    await call();
  } catch (error) {
    thrown = error;
  }
  if (!isSandboxError(thrown)) throw thrown ?? new Error("nothing was thrown");
  expect(thrown).toMatchObject({ name: "ValidationError", code: "INVALID_ARGUMENT", status: undefined });
  expect(thrown.message).toContain(names);
}
