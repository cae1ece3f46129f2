/**
 * The file tunnel, a direct connection to the agent for file operations. A client requests an upgrade to this
 * protocol at this path below the agent's address; afterwards it speaks HTTP/1.1 with the agent itself on that
 * connection, for paths below `/files/` only.
 */
export const fileTunnel = { path: "/files/tunnel", protocol: "cloud-sandbox-files" } as const;
