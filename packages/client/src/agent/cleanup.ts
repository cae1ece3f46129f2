import { isSandboxError, type SandboxError } from "../errors/errors.js";
import type { BackgroundWork } from "./background-work.js";

/** Runs `remove`. If it fails, reports a warning and returns the error. */
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

/**
 * Runs `remove` after a failure and returns the failure. If `remove` fails too, its error becomes the failure's
 * `cleanupError`.
 */
export async function afterCleanUp(
  failure: unknown,
  remove: () => Promise<void>,
  background: BackgroundWork,
): Promise<unknown> {
  const cleanupError = await cleanUp(remove, background);
  if (cleanupError !== undefined && isSandboxError(failure)) failure.cleanupError = cleanupError;
  return failure;
}
