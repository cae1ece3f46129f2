import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type CallOptions, callOptionNames, checkKnown, checkWhole, requestInit } from "../config/options.js";
import { bodyOf, type ControlPlaneClient, successOf } from "../transport/contract-clients.js";

/** Options of links to files. */
export interface LinkOptions extends CallOptions {
  /** Seconds until the link expires, 1 to 604,800 (a week). Default: 3,600. */
  expiresInSeconds?: number | undefined;
}

type Link = ControlPlaneSchemas["SandboxLink"];
type LinkTarget = Pick<ControlPlaneSchemas["SandboxLinkRequest"], "kind" | "path" | "port">;

const longestSeconds = 604_800;

/** Links to ports and files of one sandbox. */
export class SandboxLinks {
  constructor(
    private readonly controlPlane: ControlPlaneClient,
    private readonly id: string,
  ) {}

  async make(what: string, target: LinkTarget, options: LinkOptions = {}): Promise<Link> {
    const { expiresInSeconds, ...call } = options;
    checkKnown(what, options, { ...callOptionNames, expiresInSeconds: true });
    checkWhole("expiresInSeconds", expiresInSeconds, 1, longestSeconds);
    const body = { ...target, expires_in_seconds: expiresInSeconds ?? 3600 };
    const init = { params: { path: { id: this.id } }, body, ...requestInit(call) };
    return bodyOf(this.controlPlane.POST("/v1/sandboxes/{id}/links", init), "url");
  }

  async revoke(options?: CallOptions): Promise<void> {
    const init = { params: { path: { id: this.id } }, ...requestInit(options) };
    await successOf(this.controlPlane.DELETE("/v1/sandboxes/{id}/links", init));
  }
}
