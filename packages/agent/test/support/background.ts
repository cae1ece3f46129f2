import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { eventually } from "./eventually.js";

/** The part of an agent that these functions use. */
export interface CallableAgent {
  call<Body>(method: string, path: string, body?: object): Promise<{ status: number; body: Body }>;
}

export type Started = AgentSchemas["BackgroundExecuteResponse"] & AgentSchemas["BackgroundCommandResponse"];
export type Listed = AgentSchemas["ProcessInfo"];
export type Output = AgentSchemas["ProcessOutputResponse"];

/** Starts a job. Resolves with its ids, and throws if it is refused. */
export async function startJob(
  agent: CallableAgent,
  path: "/execute/background" | "/commands/background",
  body: object,
): Promise<Started> {
  const answer = await agent.call<Started>("POST", path, body);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export const startCommand = (agent: CallableAgent, command: string, more: object = {}) =>
  startJob(agent, "/commands/background", { command, ...more });

export const startCode = (agent: CallableAgent, code: string, more: object = {}) =>
  startJob(agent, "/execute/background", { code, ...more });

export async function listJobs(agent: CallableAgent): Promise<Listed[]> {
  return (await agent.call<AgentSchemas["ProcessListResponse"]>("GET", "/execute/processes")).body.processes;
}

export async function listed(agent: CallableAgent, { process_id }: Started): Promise<Listed> {
  const found = (await listJobs(agent)).find((job) => job.process_id === process_id);
  if (!found) throw new Error(`${process_id} is not in the list.`);
  return found;
}

/** Waits until the job has ended. Resolves with its entry in the list. */
export async function ended(agent: CallableAgent, job: Started): Promise<Listed> {
  await eventually("the job has ended", async () => (await listed(agent, job)).status !== "running");
  return listed(agent, job);
}

export async function outputOf(
  agent: CallableAgent,
  { process_id }: Pick<Started, "process_id">,
  query: Readonly<Record<string, number>> = {},
): Promise<Output> {
  const text = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return (await agent.call<Output>("GET", `/execute/processes/${process_id}/output?${text.join("&")}`)).body;
}

/**
 * Reads a job's output in pieces of at most `limit` bytes until the output is complete. Calls `onPiece` after each
 * piece.
 */
export async function readThrough(
  agent: CallableAgent,
  job: Started,
  limit: number,
  onPiece: () => void = () => undefined,
) {
  const pieces: Output[] = [];
  let [stdout_offset, stderr_offset, complete] = [0, 0, false];
  await eventually("all is read", async () => {
    while (!complete) {
      const piece = await outputOf(agent, job, { stdout_offset, stderr_offset, limit });
      complete = piece.complete;
      if (!complete && piece.stdout === "" && piece.stderr === "") return false;
      pieces.push(piece);
      onPiece();
      ({ stdout_offset, stderr_offset } = piece);
    }
    return true;
  });
  const joined = (name: "stdout" | "stderr") => pieces.map((piece) => piece[name]).join("");
  return { pieces, stdout: joined("stdout"), stderr: joined("stderr") };
}
