import { InvalidPoolError } from "../errors/local-errors.js";

/** The environment variable with the number of warm machines. */
export const poolVariable = "CLOUD_SANDBOX_POOL";

/** Most warm machines of a pool. */
export const largestPool = 64;

/** The number of warm machines: from the option, else from the environment, else 1. */
export function poolSize(option: number | undefined, env: NodeJS.ProcessEnv = process.env): number {
  const text = env[poolVariable]?.trim();
  if (option !== undefined || !text) return option ?? 1;
  const size = Number(text);
  if (Number.isInteger(size) && size >= 0 && size <= largestPool) return size;
  throw new InvalidPoolError(text);
}
