import { isSandboxError, type SandboxError } from "../errors/errors.js";
import type { BackgroundWork } from "./background-work.js";

/** Removes what must not be left. That this failed is a warning, and the result. */
export async function cleanUp(
  remove: () => Promise<void>,
  background: BackgroundWork,
): Promise<SandboxError | undefined> {
  try {
    await remove();
    return undefined;
  } catch (error) {
    if (!isSandboxError(error)) throw error;
    background.warn(error);
    return error;
  }
}

/** The failure, once what it left is removed; it says so where that was not possible. */
export async function afterCleanUp(
  failure: unknown,
  remove: () => Promise<void>,
  background: BackgroundWork,
): Promise<unknown> {
  const cleanupError = await cleanUp(remove, background);
  if (cleanupError !== undefined && isSandboxError(failure)) failure.cleanupError = cleanupError;
  return failure;
}
