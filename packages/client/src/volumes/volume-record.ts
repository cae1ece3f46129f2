import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { date } from "../transport/answer-fields.js";

/** A directory that sandboxes mount and that outlives them. */
export interface VolumeRecord {
  id: string;
  name: string;
  /** Size of its file system in MiB. */
  sizeMb: number | undefined;
  /** Bytes that it takes on the server's disk. */
  usedBytes: number | undefined;
  /** The sandboxes that mount it, stopped ones included: their names, or else their ids. */
  sandboxes: string[];
  createdAt: Date | undefined;
}

export function volumeRecord(wire: ControlPlaneSchemas["Volume"]): VolumeRecord {
  return {
    id: wire.id,
    name: wire.name,
    sizeMb: wire.size_mb,
    usedBytes: wire.used_bytes,
    sandboxes: wire.sandboxes ?? [],
    createdAt: date(wire.created_at),
  };
}
