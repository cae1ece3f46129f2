/** Gives servers of an ordinary user, who has no home directory, one cache directory for the whole run. */
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

/** A uid that no account and no file of this machine has. */
export const ordinaryUid = 54_321;

declare module "vitest" {
  interface ProvidedContext {
    /** Undefined where the tests are not run by root, whose servers use the cache directory of whoever runs them. */
    ordinaryUserCaches: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const place = await mkdtemp(join(tmpdir(), "ordinary-user-caches-"));
  await chmod(place, 0o755);
  const caches = join(place, "caches");
  await mkdir(caches);
  await chown(caches, ordinaryUid, ordinaryUid);
  project.provide("ordinaryUserCaches", caches);
  return () => rm(place, { recursive: true });
}
