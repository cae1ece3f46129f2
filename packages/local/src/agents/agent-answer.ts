import type { IncomingMessage } from "node:http";
import { isModestJson } from "@cloud-sandbox/protocol/bounded-answers";
import { GatheredBytes } from "@cloud-sandbox/protocol/gathered-bytes";

/** The text of an agent's answer. Rejects if it has more than `maxBytes`: code in the sandbox may have replaced the agent and send without end. */
export async function answerText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const received = new GatheredBytes();
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    // Leaving the loop destroys the connection.
    if (received.length + chunk.length > maxBytes)
      throw new Error(`The agent's answer has more than ${maxBytes} bytes.`);
    received.add(chunk);
  }
  return textOf(received);
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
  const begun = new GatheredBytes();
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      begun.add(chunk.subarray(from, end));
      const line = textOf(begun);
      begun.drop(begun.length);
      from = end + 1;
      const frame = jsonObject(line);
      if (frame) yield frame;
    }
    const rest = chunk.subarray(from);
    if (begun.length + rest.length > maxBytes)
      throw new Error(`The agent sent a line of more than ${maxBytes} bytes.`);
    begun.add(rest);
  }
}

const decoder = new TextDecoder();
const textOf = ({ bytes }: GatheredBytes): string => decoder.decode(bytes);

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!isModestJson(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
