import { request } from "node:http";
import { type AgentAddress, httpTarget } from "./agent-address.js";

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
