import {
  type CallOptions,
  callInit,
  checkBoolean,
  checkKnown,
  omitUndefined,
  requireText,
  requireWhole,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { bodyOf, type ControlPlaneClient, successOf } from "../transport/contract-clients.js";
import { checkLists, type EgressLists, listsOnWire } from "./sandbox-creation.js";

/** An answer to programs that wait for a host. */
export interface EgressDecision {
  /** Name or address, and port, as an event `egress.held` has them. */
  host: string;
  port: number;
  allow: boolean;
  /** Whether the host is put on the list `allow` or `deny` of the sandbox. Default: the answer is for programs that wait now. */
  always?: boolean | undefined;
}

/** What a sandbox may reach, while it runs. */
export class SandboxEgress {
  readonly #controlPlane: ControlPlaneClient;
  readonly #id: string;

  /** @internal */
  static of(controlPlane: ControlPlaneClient, id: string): SandboxEgress {
    return new SandboxEgress(controlPlane, id);
  }

  private constructor(controlPlane: ControlPlaneClient, id: string) {
    this.#controlPlane = controlPlane;
    this.#id = id;
  }

  /** The rules that hold now (GET /v1/sandboxes/{id}). A list that is undefined limits nothing. */
  async get(options?: CallOptions): Promise<EgressLists> {
    const init = { params: { path: { id: this.#id } }, ...callInit(options) };
    const { egress } = await bodyOf(this.#controlPlane.GET("/v1/sandboxes/{id}", init), "id");
    return { allow: egress?.allow, deny: egress?.deny, ask: egress?.ask };
  }

  /**
   * Replaces all rules at once (PUT /v1/sandboxes/{id}/egress), and closes open connections that are refused now. A list that is not
   * given limits nothing; `{ allow: [] }` refuses everything. A sandbox without internet access is a `ValidationError`.
   *
   * ```ts
   * await sandbox.commands.run("npm ci");
   * await sandbox.egress.set({ allow: ["api.github.com"] });
   * ```
   */
  async set(lists: EgressLists, options?: CallOptions): Promise<void> {
    checkKnown("egress.set", lists ?? null, { allow: true, deny: true, ask: true });
    checkLists(lists, undefined);
    const init = { params: { path: { id: this.#id } }, body: listsOnWire(lists), ...callInit(options) };
    await successOf(this.#controlPlane.PUT("/v1/sandboxes/{id}/egress", init));
  }

  /**
   * Answers the programs that wait for a host which no list names, in a sandbox with `ask` (POST
   * /v1/sandboxes/{id}/egress/decisions). An event `egress.held` tells host and port. A `ConflictError` if no program waits for it any
   * more: each waits 60 s at most.
   */
  async decide(decision: EgressDecision, options?: CallOptions): Promise<void> {
    checkKnown("egress.decide", decision ?? null, { host: true, port: true, allow: true, always: true });
    const { host, port, allow, always } = decision;
    requireText("host", host);
    requireWhole("port", port, 1, 65_535);
    if (typeof allow !== "boolean") throw invalidArgument("allow must be true or false.");
    checkBoolean("always", always);
    const body = {
      host,
      port,
      decision: allow ? ("allow" as const) : ("deny" as const),
      ...omitUndefined({ always }),
    };
    const init = { params: { path: { id: this.#id } }, body, ...callInit(options) };
    await successOf(this.#controlPlane.POST("/v1/sandboxes/{id}/egress/decisions", init));
  }
}
