/** Reads resources: opens the backend, and turns errors into the words that tools use. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import type { Profile } from "../session/profile.js";
import type { Session, SessionContext } from "../session/session.js";

/** Runs `work` for the resource `uri`. Turns its errors into MCP errors that say what to do. */
type Reader = <Result>(uri: string, work: (context: SessionContext) => Promise<Result>) => Promise<Result>;

export function reader(session: Session, { advice }: Profile): Reader {
  return async (uri, work) =>
    session.use(work).catch(async (error: unknown) => {
      if (error instanceof ProtocolError) throw error;
      const { explainFailure, unforeseen } = await import("../errors/tool-failure.js");
      const text = explainFailure(error, advice, session.environment) ?? unforeseen;
      const isGone = error instanceof Error && ["NotFoundError", "SandboxExpiredError"].includes(error.name);
      throw isGone
        ? new ResourceNotFoundError(uri, text)
        : new ProtocolError(ProtocolErrorCode.InternalError, text);
    });
}

/** Wraps a completion so that an error gives no suggestions: completions only help while somebody types. */
export async function completing(
  session: Session,
  work: (context: SessionContext) => Promise<string[]>,
): Promise<string[]> {
  return session.use(work).catch(() => []);
}

export const jsonType = "application/json";

export function jsonContents(uri: string, value: unknown): ReadResourceResult {
  return { contents: [{ uri, mimeType: jsonType, text: JSON.stringify(value, null, 2) }] };
}

/** The decoded value of a variable of a URI template. */
export function decoded(uri: string, value: string | string[] | undefined): string {
  try {
    return decodeURIComponent(String(value ?? ""));
  } catch {
    throw new ResourceNotFoundError(uri, `The URI ${uri.slice(0, 200)} has an invalid percent escape.`);
  }
}
