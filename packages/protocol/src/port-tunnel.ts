/**
 * The port tunnel, a connection to a TCP port inside a sandbox. A client requests an upgrade to this protocol at this path
 * below the agent's address; afterwards bytes are passed on unchanged in both directions.
 */
export const portTunnel = {
  path: (port: number): string => `/ports/${port}/tunnel`,
  protocol: "cloud-sandbox-port",
} as const;
