import { request } from "node:http";
import { type AgentAddress, httpTarget } from "./agent-address.js";

/** Resolves when an agent answers, asked on a connection of its own; rejects when it does not. */
export async function answersHealth(address: AgentAddress, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const call = request({ ...httpTarget(address), path: "/health", agent: false, signal }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve();
      else reject(new Error(`The machine's agent answered ${response.statusCode} to its health check.`));
    });
    call.on("error", reject);
    call.end();
  });
}
