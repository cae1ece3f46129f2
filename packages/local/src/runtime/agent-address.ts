/** Where a machine's agent answers HTTP: the path of a Unix socket, or a port. It can be passed to `net.connect`. */
export type AgentAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** The address as options of `http.request`, in which `path` means the path of the URL. */
export function httpTarget(address: AgentAddress): { socketPath: string } | { host: string; port: number } {
  return "path" in address ? { socketPath: address.path } : address;
}
