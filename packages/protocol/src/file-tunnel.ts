/**
 * The short way for files: a request for an upgrade to this protocol at this path, below the agent's address, makes the
 * connection one with the agent itself. From then on HTTP/1.1 is spoken on it, for what is below `/files/`.
 */
export const fileTunnel = { path: "/files/tunnel", protocol: "cloud-sandbox-files" } as const;
