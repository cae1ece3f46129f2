/** What the control plane asks a machine's supervisor for, over HTTP/2: on the container's standard streams, or on a port. */
export const channelPaths = {
  /** Answered at once. On a port, the first request of a session must carry the secret; it then ends the previous session. */
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

export interface Assignment {
  /** The command that starts the agent. */
  readonly command: readonly string[];
  /** The agent's configuration, which the container's own configuration must not show: it holds variables of a template. */
  readonly config: string;
  readonly agentSocket: string;
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
