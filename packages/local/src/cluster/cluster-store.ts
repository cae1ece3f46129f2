import { Database } from "../store/database.js";
import { MemoryEventLog } from "../store/event-log.js";
import { PendingWrites } from "../store/pending-writes.js";
import type { Store } from "../store/store.js";
import type { ClusterApi } from "./cluster-api.js";
import { ClusterKeys } from "./cluster-keys.js";
import { ClusterSandboxes } from "./cluster-sandboxes.js";
import { ClusterStoredSecrets } from "./cluster-stored-secrets.js";
import type { Term } from "./lease.js";
import { requireHeld } from "./not-saved.js";

export interface ClusterStoreParts {
  readonly cluster: ClusterApi;
  readonly term: Term;
  readonly log: (message: string) => void;
}

/** The store of the server that leads, for one term: objects of the cluster. Events and what webhooks report are in memory. */
export function clusterStore({ cluster, term, log }: ClusterStoreParts): Store {
  const writes = new PendingWrites(() => requireHeld(term));
  const events = new MemoryEventLog();
  const sandboxes = new ClusterSandboxes({ cluster, term, writes, events, log });
  const keys = new ClusterKeys(cluster, term, events);
  let database: Promise<Database> | undefined;
  return {
    directory: undefined,
    isKept: true,
    settings: keys,
    sandboxes,
    apiKeys: async () => keys,
    secrets: new ClusterStoredSecrets(cluster, term),
    writes,
    events,
    problem: () => (writes.isFailing || !term.isHeld ? problem : undefined),
    database: () => {
      database ??= Database.open();
      return database;
    },
    close: async () => {
      await writes.close();
      sandboxes.close();
      // Changes that have begun meanwhile are made before another server reads the records.
      const left = await writes.close();
      (await database)?.close();
      return left;
    },
  };
}

const problem = {
  storage: "unavailable",
  message:
    "Records cannot be saved in the cluster, because its API server does not answer. Sandboxes keep running, but creates, deletes and new deadlines are refused until it answers.",
} as const;
