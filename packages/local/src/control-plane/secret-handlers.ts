import type { Handlers } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { secretOnWire } from "@cloud-sandbox/server-kit/handlers";
import type { KeyFleet } from "../sandboxes/key-fleet.js";
import type { SandboxAccess } from "../sandboxes/sandbox-access.js";

/** The operations on the secrets of sandboxes, for one API key. */
export function secretHandlers(fleet: KeyFleet, access: SandboxAccess) {
  return {
    listSandboxSecrets: ({ params, requestId }) => ({
      object: "list",
      data: (fleet.get(params.id).secrets ?? []).map(secretOnWire),
      url: `/v1/sandboxes/${params.id}/secrets`,
      request_id: requestId,
    }),

    setSandboxSecret: async ({ params, body, requestId }) => {
      const secret = await access.setSecret(fleet.get(params.id), params.name, body);
      return { ...secretOnWire(secret), request_id: requestId };
    },

    deleteSandboxSecret: async ({ params, requestId }) => {
      await access.deleteSecret(fleet.get(params.id), params.name);
      return { name: params.name, object: "secret", deleted: true, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}
