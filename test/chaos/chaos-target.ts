import type { Entry } from "./ledger.js";

/** What a server of a chaos run starts its sandboxes with. */
export interface ChaosTarget {
  /** Options of `serve`. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether sandboxes go on when their server is killed. Otherwise they have failed. */
  readonly goesOn: boolean;
  /** Whether templates are built, and servers killed in the probe, which runs bubblewrap. */
  readonly isBubblewrap: boolean;
  /** Kills what the server depends on, at a random moment of half of the rounds. Resolves when it works again. */
  readonly interrupt?: () => Promise<void>;
  /** Lists what is left that belongs to none of the sandboxes. */
  readonly leftovers: (sandboxes: readonly Entry[]) => Promise<string[]>;
}

export const bubblewrap: ChaosTarget = {
  ...{ options: [], env: {}, goesOn: false, isBubblewrap: true },
  leftovers: async () => [],
};
