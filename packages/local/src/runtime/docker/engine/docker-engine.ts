import { Agent, type ClientRequestArgs } from "node:http";
import { connect, type NetConnectOpts } from "node:net";
import Docker from "dockerode";

/** An error of a Docker daemon, or of the connection to it. */
export interface DockerFailure extends Error {
  /** The status that the daemon answered with; undefined if it did not answer. */
  readonly statusCode?: number;
  readonly code?: string;
  readonly address?: string;
}

/** The part of `docker info` that matters here. */
export interface DaemonInformation {
  readonly OSType: string;
  /** The processor of its machine, in the words of Linux. */
  readonly Architecture: string;
  readonly NCPU: number;
  readonly OperatingSystem?: string;
  readonly ServerVersion: string;
  readonly InitBinary?: string;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly SecurityOptions?: readonly string[];
  /** The daemon's runtimes, by name. */
  readonly Runtimes?: Readonly<Record<string, { readonly path?: string }>>;
}

/** Opens connections that do not keep this process running. */
class UnreferencedAgent extends Agent {
  override createConnection(options: ClientRequestArgs): ReturnType<typeof connect> {
    return connect(options as NetConnectOpts).unref();
  }
}

/**
 * The daemon that `DOCKER_HOST` names; without it, the one of this machine. `holdsProcess`: whether open requests keep this
 * process running. Over TLS and SSH they always do.
 */
export function openDocker(holdsProcess = true): Docker {
  const { DOCKER_HOST = "", DOCKER_TLS_VERIFY } = process.env;
  const isPlain =
    !DOCKER_HOST.startsWith("ssh:") && DOCKER_TLS_VERIFY !== "1" && !/:2376\/?$/.test(DOCKER_HOST);
  // The library hands the agent to `http.request`; its types know only agents for TLS.
  const options: object = isPlain && !holdsProcess ? { agent: new UnreferencedAgent() } : {};
  return new Docker(options);
}

export const isMissing = ({ statusCode }: DockerFailure): boolean => statusCode === 404;

/** Whether the daemon has an image of that name. */
export async function hasImage(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getImage(name).inspect();
    return true;
  } catch (error) {
    if (isMissing(error as DockerFailure)) return false;
    throw error;
  }
}

/** The answer of the daemon. A failure is told in its words. */
export async function fromDaemon<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return answer.catch((error: unknown) => {
    throw Object.assign(new Error(`Docker did not start it: ${reasonOf(error)}`, { cause: error }), {
      statusCode: (error as DockerFailure).statusCode,
    });
  });
}

/** Returns the daemon's own message, without the words of the library. */
export function reasonOf(error: unknown): string {
  const { message, statusCode } = error as DockerFailure;
  if (statusCode !== undefined) return message.replace(/^\(HTTP code \d+\) [^-]* - /, "").trim();
  return unanswered(error as DockerFailure).reason;
}

/** Explains why a daemon does not answer, and what to do. */
export function unanswered({ code, address, message }: DockerFailure): { reason: string; fix: string } {
  const host = process.env.DOCKER_HOST;
  const shown = host !== undefined && host !== "" ? `${host} (DOCKER_HOST)` : (address ?? "its usual socket");
  if (code === "EACCES" || code === "EPERM")
    return {
      reason: `this user may not use Docker's socket ${address ?? shown}`,
      fix: 'allow it with "usermod -aG docker USER" and log in again, or start as root',
    };
  if (code === undefined && host !== undefined && !URL.canParse(host))
    return {
      reason: `DOCKER_HOST is no address of a daemon: ${message}`,
      fix: "set it as in unix:///var/run/docker.sock",
    };
  const absent = code === "ENOENT" || code === "ECONNREFUSED";
  return {
    reason: `no Docker daemon answers at ${shown}${absent ? "" : ` (${message})`}`,
    fix: "start Docker, or set DOCKER_HOST to the address of a daemon",
  };
}
