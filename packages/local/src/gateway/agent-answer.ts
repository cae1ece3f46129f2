import type { IncomingMessage } from "node:http";

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
