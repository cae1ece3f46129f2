import { createHash } from "node:crypto";
import type { HomeFiles } from "../../host/home-files.js";

/**
 * Requests of the control plane to a machine's supervisor, over HTTP/2. Each request carries the secret. The first one
 * of a session ends the previous session.
 */
export const channelPaths = {
  /** Answered at once, with the header {@link newMachineHeader} if no agent has been started yet. */
  hello: "/hello",
  /** Starts the agent, as an {@link Assignment} says. */
  assign: "/assign",
  /** A connection to the agent. */
  agent: "/agent",
  /** The next connection of the machine to the proxy: the answer comes when there is one. */
  egress: "/egress",
  /** Kills the agent, after which another one starts. */
  restart: "/restart",
} as const;

/** A supervisor that has started no agent yet sets this header in its answer to `hello`. */
export const newMachineHeader = "x-machine-is-new";

/**
 * How long a machine waits for its control plane when their connection is cut or the control plane has ended. Machines of a
 * cluster wait longer than it takes until another server leads, which is up to 16 s.
 */
export const waitForServerMs = 60_000;

/** How a supervisor is reached. It reads this in the variable `CLOUD_SANDBOX_CHANNEL`. */
export interface Listening {
  /** A port, or the path of a Unix socket. With a socket, the control plane comes over the standard streams first. */
  readonly at: number | string;
  /** SHA-256, in hexadecimal, of the secret that the control plane has. */
  readonly hash: string;
  /** Milliseconds to wait for the control plane when its connection is cut. */
  readonly waitMs: number;
}

/** The variable with a machine's {@link Listening}. */
export const listeningVariable = "CLOUD_SANDBOX_CHANNEL";

export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

export interface Assignment {
  /** The command that starts the agent. */
  readonly command: readonly string[];
  /** The agent's configuration, which the container's own configuration must not show: it holds variables of a template. */
  readonly config: string;
  readonly agentSocket: string;
  /** Certificates, in PEM, of the host's own authorities, which the machine gets in files. Undefined if it has none. */
  readonly authorities: string | undefined;
  /** Files that the home directory begins with. Undefined if there are none. */
  readonly homeFiles: HomeFiles | undefined;
  /** Where connections to the proxy are accepted. Undefined for a machine without a network. */
  readonly egressSocket: string | undefined;
}

const mebibyte = 1024 * 1024;

/** Both ends of a channel use these. Each connection in it has a window of its own, so one that is not read does not stop others. */
export const channelLimits = {
  settings: { initialWindowSize: mebibyte, maxFrameSize: 64 * 1024, enablePush: false },
  sessionWindow: 64 * mebibyte,
  /** In MiB. */
  maxSessionMemory: 512,
};
