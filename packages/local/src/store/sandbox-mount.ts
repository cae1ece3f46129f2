import type { MountFacts } from "@cloud-sandbox/server-kit/handlers";

/** A volume that a sandbox mounts, each time its machine starts. */
export interface SandboxMount extends MountFacts {
  readonly volumeId: string;
}
