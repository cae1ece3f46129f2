/** Asks the person who uses the client, before a tool does what only that person may decide. */
import { createHash } from "node:crypto";
import { type InputRequiredResult, inputRequired, type ServerContext } from "@modelcontextprotocol/server";
import { InvalidArgumentsError } from "../errors/errors.js";

/** Most characters and lines of a question, 40 and its first: a form of a client shows no more, or hides the rest. */
const mostCharacters = 4000;
const mostLines = 41;

/** The client has to ask the person, and call again with the answer. */
export class ConsentNeeded extends Error {
  constructor(
    private readonly key: string,
    private readonly question: string,
  ) {
    super(question);
  }

  /** The answer to the call, which makes the client ask. */
  get answer(): InputRequiredResult {
    const properties = { agree: { type: "boolean", title: "Yes, write them", default: false } } as const;
    const requestedSchema = { type: "object", properties, required: ["agree"] } as const;
    const request = inputRequired.elicit({
      message: this.question,
      requestedSchema: { ...requestedSchema, required: ["agree"] },
    });
    return inputRequired({ inputRequests: { [this.key]: request } });
  }
}

/**
 * Resolves if the person agrees to what the question says. Throws a {@link ConsentNeeded} if nobody was asked this yet, and an
 * InvalidArgumentsError if the person does not agree, if the client cannot ask, or if the question is longer than a form.
 */
export async function askConsent(
  question: string,
  /** What the answer holds for. The client calls again with the answer, and this may be something else by then. */
  bound: unknown,
  { mcpReq }: ServerContext,
  { canAsk, isGranted }: { readonly canAsk: boolean; readonly isGranted: boolean },
): Promise<void> {
  if (isGranted) return;
  const key = `consent-${createHash("sha256")
    .update(JSON.stringify([question, bound]))
    .digest("hex")}`;
  const answer = mcpReq.inputResponses?.[key] as
    | { action?: unknown; content?: { agree?: unknown } }
    | undefined;
  if (answer?.action === "accept" && answer.content?.agree === true) return;
  if (answer !== undefined)
    throw new InvalidArgumentsError(
      "The user did not agree, so nothing was written. Ask the user what to change.",
    );
  if (!canAsk)
    throw new InvalidArgumentsError(
      'This client cannot ask its user, so nothing was written. Tell the user what would change; the user can apply it with "cloud-sandbox apply", or start this server with --apply-without-asking.',
    );
  if (question.length > mostCharacters || question.split("\n").length > mostLines)
    throw new InvalidArgumentsError(
      "The user cannot be asked about so much at once, so nothing was written. Call the tool several times, with fewer paths each: at most 40, and fewer if they are long.",
    );
  throw new ConsentNeeded(key, question);
}
