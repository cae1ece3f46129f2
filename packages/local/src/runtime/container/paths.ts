export const opt = "/opt/cloud-sandbox";

/** Paths inside a machine. All are on the read-only root, but for `run`, which only root may write. */
export const inside = {
  run: `${opt}/run`,
  /** Where the supervisor of a container accepts its control plane anew; see `bridge.ts`. */
  channelSocket: `${opt}/run/channel`,
  bridge: `${opt}/bridge.cjs`,
  agentSocket: `${opt}/run/agent/socket`,
  egressSocket: `${opt}/run/egress`,
  authorities: { own: `${opt}/run/authorities/own.pem`, bundle: `${opt}/run/authorities/bundle.pem` },
  homeFiles: `${opt}/run/home`,
  nodePreload: `${opt}/agent/node-proxy.cjs`,
  noFiles: `${opt}/empty`,
  launcher: `${opt}/launcher`,
  fallbacks: `${opt}/fallbacks`,
  home: "/home/sandbox",
} as const;

/** The part of an agent's configuration that is about the internet. */
export const networkConfig = {
  egress: { socket: inside.egressSocket, nodePreload: inside.nodePreload },
  authorities: inside.authorities,
} as const;

/**
 * The uid and gid of the user's programs. In Docker's containers the agent's uid is 0, without any capability but to start
 * programs as this uid; in Pods the agent has this uid too.
 */
export const codeUid = 1000;

/** The image of sandboxes unless another is named. It has Python and a shell; Node.js comes with the agent. */
export const defaultImage = "python:3.12-slim";
