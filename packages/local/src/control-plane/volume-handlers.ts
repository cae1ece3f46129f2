import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { Handlers } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import type { Volume } from "../store/volume-repository.js";
import type { Volumes } from "../volumes/volumes.js";

const defaultSizeMb = 1024;

/** The operations on volumes, for one API key. */
export function volumeHandlers(volumes: Volumes, keyId: string | undefined) {
  const onWire = async (volume: Volume): Promise<ControlPlaneSchemas["Volume"]> => ({
    id: volume.id,
    object: "volume",
    name: volume.name,
    size_mb: volume.sizeMb,
    used_bytes: await volumes.usedBytes(volume).catch(() => 0),
    created_at: volume.createdAt.toISOString(),
    sandboxes: [...volumes.usersOf(volume, keyId)],
  });
  return {
    createVolume: async ({ body, requestId }) => {
      const volume = await volumes.create(body.name, body.size_mb ?? defaultSizeMb, keyId);
      return { ...(await onWire(volume)), request_id: requestId };
    },

    listVolumes: async ({ requestId }) => ({
      object: "list",
      data: await Promise.all(volumes.list(keyId).map(onWire)),
      ...(volumes.lack !== undefined && { unavailable: volumes.lack }),
      url: "/v1/volumes",
      request_id: requestId,
    }),

    getVolume: async ({ params, requestId }) => ({
      ...(await onWire(volumes.get(params.id, keyId))),
      request_id: requestId,
    }),

    deleteVolume: async ({ params, requestId }) => {
      const volume = volumes.get(params.id, keyId);
      await volumes.delete(volume, keyId);
      return { id: volume.id, object: "volume", deleted: true, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}
