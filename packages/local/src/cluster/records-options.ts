import { InvalidRecordsError } from "../errors/local-errors.js";

/** Least seconds that Pods wait for their server. It takes up to 16 s until another one leads, which then connects to them. */
const leastWaitSeconds = 30;

/** Throws if other options exclude that records are kept in the cluster. */
export function requireRecordsPossible({
  dataDir,
  waitForServerSeconds = leastWaitSeconds,
}: {
  readonly dataDir?: string;
  readonly waitForServerSeconds?: number | undefined;
}): void {
  if (dataDir !== undefined)
    throw new InvalidRecordsError(
      "Records are kept either in the cluster or in a data directory. Leave --data-dir or --kubernetes-records out.",
    );
  if (waitForServerSeconds < leastWaitSeconds)
    throw new InvalidRecordsError(
      `When records are kept in the cluster, Pods must wait at least ${leastWaitSeconds} s for their server, because it takes up to 16 s until another one leads. Raise --wait-for-server, or leave it out.`,
    );
}
