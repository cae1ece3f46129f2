import type { IncomingMessage } from "node:http";
import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";

/** The text of an agent's answer. Rejects if it has more than `maxBytes`: code in the sandbox may have replaced the agent and send without end. */
export async function answerText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    received += chunk.length;
    // Leaving the loop destroys the connection.
    if (received > maxBytes) throw new Error(`The agent's answer has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The JSON of an agent's answer; undefined if the text is not JSON. */
export async function answerJson(answer: IncomingMessage, maxBytes: number): Promise<unknown> {
  const text = await answerText(answer, maxBytes);
  if (!isModestJson(text))
    throw new Error("The agent's answer is refused, because its JSON holds too many values.");
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON objects of an answer that has one object in each line. Other lines are left out. Rejects at a line of more than `maxBytes`. */
export async function* answerFrames(
  answer: IncomingMessage,
  maxBytes: number,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...begun, chunk.subarray(from, end)]).toString("utf8");
      begun = [];
      length = 0;
      from = end + 1;
      const frame = jsonObject(line);
      if (frame) yield frame;
    }
    const rest = chunk.subarray(from);
    length += rest.length;
    if (length > maxBytes) throw new Error(`The agent sent a line of more than ${maxBytes} bytes.`);
    if (rest.length > 0) begun.push(rest);
  }
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!isModestJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
