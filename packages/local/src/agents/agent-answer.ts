import type { IncomingMessage } from "node:http";
import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";

/** The text of an agent's answer. Code in the sandbox may have replaced the agent and send without end: at most `maxBytes` are read. */
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
  if (!isModestJson(text)) throw new Error("The agent's answer is refused: its JSON holds too many values.");
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
