/** The ids of a session's requests that are being answered: its transport knows by them which answer belongs to which response. */
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type ErrorAnswer, errorAnswer } from "../server/received-message.js";

type Id = string | number;

export class OpenIds {
  readonly #open = new Set<Id>();

  /**
   * Keeps the ids of a body's requests until `over`. Keeps none, and gives the error to answer, if one of them is open already: one of the
   * two requests would get the answer to the other, or none.
   */
  enter(body: unknown, over: Promise<void>): ErrorAnswer | undefined {
    const ids = new Set<Id>();
    for (const id of idsOf(body)) {
      if (this.#open.has(id) || ids.has(id)) return inUse(id);
      ids.add(id);
    }
    for (const id of ids) this.#open.add(id);
    void over.then(() => {
      for (const id of ids) this.#open.delete(id);
    });
    return undefined;
  }
}

function idsOf(body: unknown): Id[] {
  const messages = (Array.isArray(body) ? body : [body]) as ReadonlyArray<
    Record<string, unknown> | null | undefined
  >;
  return messages.flatMap((message) => {
    const isRequest = message?.method !== undefined && message.id !== undefined;
    return isRequest ? [message.id as Id] : [];
  });
}

function inUse(id: Id): ErrorAnswer {
  return errorAnswer(
    id,
    ProtocolErrorCode.InvalidRequest,
    `Invalid request: another request with the id ${JSON.stringify(id)} is not answered yet; give each request of a session an id of its own.`,
  );
}
