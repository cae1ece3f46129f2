import { type CallOptions, callInit, checkKnown, omitUndefined } from "../config/options.js";
import { bodyOf, type ControlPlaneClient, successOf } from "../transport/contract-clients.js";
import { checkLists, type EgressLists } from "./sandbox-creation.js";

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

  /** The lists that hold now (GET /v1/sandboxes/{id}). One that is undefined limits nothing. */
  async get(options?: CallOptions): Promise<EgressLists> {
    const init = { params: { path: { id: this.#id } }, ...callInit(options) };
    const { egress } = await bodyOf(this.#controlPlane.GET("/v1/sandboxes/{id}", init), "id");
    return { allow: egress?.allow, deny: egress?.deny };
  }

  /**
   * Replaces both lists at once (PUT /v1/sandboxes/{id}/egress), and closes open connections that are refused now. A list that is not
   * given limits nothing; `{ allow: [] }` refuses everything. A sandbox without internet access is a `ValidationError`.
   *
   * ```ts
   * await sandbox.commands.run("npm ci");
   * await sandbox.egress.set({ allow: ["api.github.com"] });
   * ```
   */
  async set(lists: EgressLists, options?: CallOptions): Promise<void> {
    checkKnown("egress.set", lists, { allow: true, deny: true });
    checkLists(lists, undefined);
    const body = omitUndefined({ allow: lists.allow?.slice(), deny: lists.deny?.slice() });
    const init = { params: { path: { id: this.#id } }, body, ...callInit(options) };
    await successOf(this.#controlPlane.PUT("/v1/sandboxes/{id}/egress", init));
  }
}
