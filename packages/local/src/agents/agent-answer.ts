import type { IncomingMessage } from "node:http";
import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";

/** The text of an agent's answer. What answers in a sandbox is not trusted: it may send without end. */
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

/** Its JSON; undefined where it is none. */
export async function answerJson(answer: IncomingMessage, maxBytes: number): Promise<unknown> {
  const text = await answerText(answer, maxBytes);
  if (!isModestJson(text)) throw new Error("The agent's answer holds more values than any real one.");
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
