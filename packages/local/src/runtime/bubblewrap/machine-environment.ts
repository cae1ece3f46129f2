import { openFilesLimit } from "../host/open-files.js";
import type { MachineLimits } from "../sandbox-runtime.js";
import { agentTimeZone, type MachineImage } from "./machine-image.js";

const home = "/home/sandbox";

/** The environment of all programs of a machine. */
export function programEnvironment(image: MachineImage): Record<string, string> {
  return {
    PATH: `${home}/.local/bin:${image.path}`,
    HOME: home,
    USER: image.user,
    LOGNAME: image.user,
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    // pip refuses system-wide installs because of a marker file in the host's `/usr`. In a sandbox they are safe,
    // because packages are installed into the sandbox's own layer.
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    ...(image.user === "root" && { PIP_ROOT_USER_ACTION: "ignore" }),
    // With a read-only `/usr`, packages must be installed into the home directory: pip does that by itself, npm needs
    // this setting.
    ...(image.disk === undefined && { NPM_CONFIG_PREFIX: `${home}/.local` }),
  };
}

/**
 * The environment of a machine's init and agent. It has no LANG: with LANG the init's shell would read locale files, which
 * code in the sandbox may have written before a stop.
 */
export function machineEnvironment(
  limits: MachineLimits,
  image: MachineImage,
  /** The search path that an imported image sets. */
  path: string | undefined,
): Record<string, string> {
  return {
    ...programEnvironment(image),
    ...(path !== undefined && { PATH: path }),
    ...agentTimeZone,
    ...limitVariables(limits),
  };
}

/** The variables of {@link limitsScript}. */
export function limitVariables(limits: MachineLimits): Record<string, string> {
  return {
    MACHINE_MEMORY_KB: String(limits.memoryMb * 1024),
    // The limit of processes. The init and the agent count towards it.
    MACHINE_PROCESSES: String(limits.maxProcesses),
    // The limit of open files. Lower for an ordinary user: the kernel counts the memory of open files, and of
    // descriptors sent through sockets, towards that user's limits on the host.
    MACHINE_FILES: String(Math.min(process.getuid?.() === 0 ? 4096 : 512, openFilesLimit)),
  };
}
