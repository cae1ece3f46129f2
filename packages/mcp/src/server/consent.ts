/** Asks the person who uses the client, before a tool does what only that person may decide. */
import { type InputRequiredResult, inputRequired, type ServerContext } from "@modelcontextprotocol/server";
import { InvalidArgumentsError } from "../errors/errors.js";

const key = "consent";

/** The client has to ask the person, and call again with the answer. */
export class ConsentNeeded extends Error {
  constructor(private readonly question: string) {
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
    return inputRequired({ inputRequests: { [key]: request } });
  }
}

/**
 * Resolves if the person agrees to what the question says. Throws a {@link ConsentNeeded} if nobody was asked yet, and an
 * InvalidArgumentsError if the person does not agree, or if the client cannot ask.
 */
export async function askConsent(
  question: string,
  { mcpReq }: ServerContext,
  { canAsk, isGranted }: { readonly canAsk: boolean; readonly isGranted: boolean },
): Promise<void> {
  if (isGranted) return;
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
  throw new ConsentNeeded(question);
}
