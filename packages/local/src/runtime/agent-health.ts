import { request } from "node:http";

/** Where a machine's agent answers HTTP: the path of a Unix socket, or a port. It can be passed to `net.connect`. */
export type AgentAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** The address as options of `http.request`, in which `path` means the path of the URL. */
export function httpTarget(address: AgentAddress): { socketPath: string } | { host: string; port: number } {
  return "path" in address ? { socketPath: address.path } : address;
}

/** Sends a health check to an agent on a new connection. Rejects when the agent does not answer with 200. */
export async function answersHealth(address: AgentAddress, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const call = request({ ...httpTarget(address), path: "/health", agent: false, signal }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve();
      else
        reject(
          new Error(`The machine's agent answered its health check with status ${response.statusCode}.`),
        );
    });
    call.on("error", reject);
    call.end();
  });
}
