import type { Handlers } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { secretOnWire } from "@cloud-sandbox/server-kit/handlers";
import type { KeyFleet } from "../sandboxes/key-fleet.js";
import type { SandboxSecrets } from "../sandboxes/sandbox-secrets.js";

/** The operations on the secrets of sandboxes, for one API key. */
export function secretHandlers(fleet: KeyFleet, secrets: SandboxSecrets) {
  return {
    listSandboxSecrets: ({ params, requestId }) => ({
      object: "list",
      data: (fleet.get(params.id).secrets ?? []).map(secretOnWire),
      url: `/v1/sandboxes/${params.id}/secrets`,
      request_id: requestId,
    }),

    setSandboxSecret: async ({ params, body, requestId }) => {
      const secret = await secrets.set(fleet.get(params.id), params.name, body);
      return { ...secretOnWire(secret), request_id: requestId };
    },

    deleteSandboxSecret: async ({ params, requestId }) => {
      await secrets.delete(fleet.get(params.id), params.name);
      return { name: params.name, object: "secret", deleted: true, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}
