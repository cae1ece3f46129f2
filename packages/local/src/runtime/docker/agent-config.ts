import { codeUid, inside, networkConfig } from "../container/paths.js";
import type { MachineSpec } from "../sandbox-runtime.js";
import { takenByVolumes } from "./container-mounts.js";
import { type DaemonAbilities, ownVariables } from "./container-options.js";
import type { PreparedImage } from "./image/prepared-image.js";

/** Whether containers have gVisor's kernel, which has no securebits. */
export const isOfGvisor = ({ isolation }: DaemonAbilities): boolean => isolation === "gvisor";

/** The configuration of the agent in a container. */
export function agentConfig(
  spec: MachineSpec,
  { environment, volumes }: PreparedImage,
  daemon: DaemonAbilities,
): string {
  const ownNames = Object.keys(ownVariables).filter((name) => !(name in environment));
  return JSON.stringify({
    sandboxId: spec.id,
    publicKey: spec.publicKey,
    listen: { socket: inside.agentSocket },
    template: spec.template,
    limits: spec.limits,
    ...(spec.egress && networkConfig),
    homeFiles: inside.homeFiles,
    mounts: [...(spec.mounts ?? []).map(({ target }) => target), ...takenByVolumes(volumes)],
    // The image's own values of the variables that are the agent's here.
    environment: {
      ...Object.fromEntries(Object.entries(environment).filter(([name]) => name in ownVariables)),
      ...spec.environment,
    },
    ownVariables: ownNames,
    runProgramsAs: {
      uid: codeUid,
      gid: codeUid,
      ...(isOfGvisor(daemon) && { launcher: inside.launcher }),
    },
    ownsMachine: true,
  });
}
