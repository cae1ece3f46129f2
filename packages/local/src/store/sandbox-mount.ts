import type { MountFacts } from "@cloud-sandbox/server-kit/handlers";

/** What a sandbox mounts, each time its machine starts. */
export interface SandboxMount extends MountFacts {
  /** Undefined for a directory of this machine. */
  readonly volumeId?: string;
}
