import type { Handlers } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { secretOnWire, storedSecretOnWire } from "@cloud-sandbox/server-kit/handlers";
import type { StoredSecret, StoredSecrets } from "../egress/secrets/stored-secrets.js";
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

/** The operations on stored secrets, for one API key. */
export function storedSecretHandlers(secrets: StoredSecrets, keyId: string | undefined) {
  const onWire = ({ rules, value, ...record }: StoredSecret) =>
    storedSecretOnWire({ ...record, ...rules, isLost: value.reveal() === undefined });
  return {
    listSecrets: ({ requestId }) => ({
      object: "list",
      data: secrets.list(keyId).map(onWire),
      url: "/v1/secrets",
      request_id: requestId,
    }),

    setSecret: async ({ params, body, requestId }) => ({
      ...onWire(await secrets.set(params.name, body, keyId)),
      request_id: requestId,
    }),

    deleteSecret: async ({ params, requestId }) => {
      await secrets.delete(params.name, keyId);
      return { name: params.name, object: "secret", deleted: true, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}
