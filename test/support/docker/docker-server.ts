import { inject } from "vitest";
import { type LocalServer, startLocalServer } from "../local-server.js";

/** Why servers of this runtime cannot be started here. Undefined if they can. */
export function withoutDocker(): string | undefined {
  const docker = inject("docker");
  return "missing" in docker ? docker.missing : undefined;
}

/** Why servers of this runtime cannot be started with gVisor here. Undefined if they can. */
export function withoutGvisor(): string | undefined {
  const docker = inject("docker");
  return "missing" in docker ? docker.missing : docker.withoutGvisor;
}

/** The variables with which a server uses the daemon of the tests, and its image. */
export function dockerEnvironment(): Record<string, string> {
  const docker = inject("docker");
  if ("missing" in docker) throw new Error(docker.missing);
  return { DOCKER_HOST: docker.host, CLOUD_SANDBOX_DOCKER_IMAGE: docker.image };
}

/** Starts the built server with the docker runtime. */
export function startDockerServer({
  env,
  args = [],
  ...options
}: NonNullable<Parameters<typeof startLocalServer>[0]> = {}): Promise<LocalServer> {
  return startLocalServer({
    ...options,
    args: ["--runtime", "docker", ...args],
    env: { ...dockerEnvironment(), ...env },
  });
}
