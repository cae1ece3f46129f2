import { type Handlers, Problem, Reply } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import type { CallerAddresses } from "../gateway/caller-addresses.js";
import { portLinkUrls } from "../gateway/preview-gateway.js";
import type { LinkTarget, SandboxLinks } from "../gateway/sandbox-links.js";
import type { KeyFleet } from "../sandboxes/key-fleet.js";
import type { SandboxAccess } from "../sandboxes/sandbox-access.js";

export interface LinkHandlerParts {
  readonly links: Pick<SandboxLinks, "make" | "fileUrl">;
  readonly addresses: Pick<CallerAddresses, "base" | "previews">;
  /** Whether previews are private, so that a link to a port means something. */
  readonly arePrivate: boolean;
}

/** The operations on links to ports and files, for one API key. */
export function linkHandlers(
  { links, addresses, arePrivate }: LinkHandlerParts,
  fleet: KeyFleet,
  access: SandboxAccess,
  keyId: string | undefined,
) {
  return {
    createSandboxLink: async ({ params, body, header, requestId }) => {
      const { id } = fleet.get(params.id);
      const { kind, port, path, expires_in_seconds: seconds = 3600 } = body;
      const target = targetOf(kind, port, path);
      if (target.kind === "port" && !arePrivate) throw arePublic();
      const { token, expiresAt } = await links.make(id, target, { keyId, seconds });
      const host = header("host");
      const urls =
        target.kind === "port"
          ? portLinkUrls(addresses.previews(id, host), target.port, token)
          : { url: links.fileUrl(addresses.base(host), token) };
      const answer = { ...urls, expires_at: expiresAt.toISOString(), request_id: requestId };
      return new Reply(
        JSON.stringify(answer),
        { "content-type": "application/json", "cache-control": "no-store" },
        201,
      );
    },

    revokeSandboxLinks: async ({ params, requestId }) => {
      const sandbox = fleet.get(params.id);
      await access.revokeLinks(sandbox);
      return { id: sandbox.id, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}

function targetOf(kind: LinkTarget["kind"], port: number | undefined, path: string | undefined): LinkTarget {
  if (kind === "port" && port !== undefined) return { kind, port };
  if (kind !== "port" && path !== undefined) return { kind, path };
  const field = kind === "port" ? "port" : "path";
  throw new Problem(400, "MISSING_PARAMETER", `A link of the kind ${kind} needs a ${field}.`, {
    details: { field },
  });
}

const arePublic = (): Problem =>
  new Problem(
    409,
    "CONFLICT",
    "The previews of this server are public: whoever knows an address may open it.",
    {
      hint: "Give the address itself, or ask whoever runs the server to start it with --previews private.",
    },
  );
