import type { EventEmitter } from "node:events";
import { Problem } from "@cloud-sandbox/server-kit";
import { bearerToken, isLook } from "@cloud-sandbox/server-kit/handlers";
import type { SandboxActivity } from "../sandboxes/sandbox-activity.js";
import { isSleeping, type ReachableSandbox } from "../sandboxes/sandbox-record.js";
import type { TokenOwners } from "../tokens/token-owners.js";

/** A request to a sandbox. */
export type Visit = {
  /** Emits "close" when the request has been answered, or when its tunnel has ended. Undefined if only its beginning counts. */
  readonly answered: EventEmitter | undefined;
} & (
  | {
      readonly to: "agent";
      readonly authorization: string | undefined;
      /** The path at the agent, with the query. */
      readonly path: string;
    }
  | { readonly to: "preview" }
  /** It is open as long as a page is, which may be forgotten, and pages open it again when it breaks. */
  | { readonly to: "preview-socket" }
);

/** Counts requests as uses of their sandboxes, and starts sandboxes for them. */
export class SandboxVisits {
  constructor(
    private readonly fleet: {
      readonly activity: SandboxActivity;
      /** Starts a sandbox that sleeps; throws the problem that says why it does not run. */
      readonly wake: (sandboxId: string) => Promise<void>;
    },
    private readonly tokenOwners: Pick<TokenOwners, "of">,
  ) {}

  /**
   * Resolves at once, or when the sandbox runs that had to be started. Tokens are verified here, because an agent that sleeps cannot
   * do that: throws a 401 problem if a sandbox sleeps that only a valid token starts.
   */
  async begin(sandbox: ReachableSandbox, visit: Visit): Promise<void> {
    if (visit.to === "agent" && isLook(visit.path)) return;
    const mayWake = sandbox.sleep.autoStart && isSleeping(sandbox) && visit.to !== "preview-socket";
    if (visit.to === "agent" && !this.#isOwner(sandbox, visit.authorization)) {
      if (mayWake) throw tokenNeeded();
      return;
    }
    const end = this.fleet.activity.begin(sandbox);
    if (visit.answered) visit.answered.once("close", end);
    else end();
    if (mayWake) await this.fleet.wake(sandbox.id);
  }

  #isOwner({ id }: ReachableSandbox, authorization: string | undefined): boolean {
    return this.tokenOwners.of(bearerToken(authorization))?.sandboxId === id;
  }
}

const tokenNeeded = (): Problem =>
  new Problem(401, "INVALID_TOKEN", "The sandbox sleeps, and only a valid token of it starts it.", {
    hint: "Get a fresh token for the sandbox from the control plane.",
    headers: { "www-authenticate": "Bearer" },
  });
