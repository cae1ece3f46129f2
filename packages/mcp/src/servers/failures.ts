/** Turns errors of MCP servers into messages for a model: what happened, and what to do. */
import { isSandboxError } from "cloud-sandbox";
import type { McpInstallError } from "cloud-sandbox-mcp-runner";
import { ServerFailure } from "../errors/errors.js";
import { type Reach, reachAdvice, tellsOfNoNetwork } from "./configured-server.js";

/** The server and the operation of a call that failed. */
export interface FailureContext {
  /** Name of the server. */
  readonly name: string;
  /** The tool, or the operation. */
  readonly what: string;
  readonly reach: Reach;
}

/** No tool changes how a server is started. */
const usersConfiguration = "The user must correct the server's configuration.";

/** Whether a server cannot be used any more after this error. The next call starts it again. */
export function endsServer(error: unknown): boolean {
  return error instanceof Error && error.name === "McpProtocolError" && codeOf(error) !== "INVALID_RESULT";
}

/** The error as a {@link ServerFailure}. Errors that are not of a server are returned as they are. */
export function failureOf(error: unknown, { name, reach, what }: FailureContext): unknown {
  if (!(error instanceof Error) || !isSandboxError(error)) return error;
  const failure = (...sentences: readonly (string | undefined)[]): ServerFailure =>
    new ServerFailure(sentences.filter((sentence) => sentence !== undefined && sentence !== "").join(" "));
  const { hint, summary } = error;
  const network = reachAdvice({ name, reach });
  switch (error.name) {
    case "McpConfigurationError":
      return failure(summary, hint, "The user must do this.");
    case "McpInstallError":
      return failure(
        summary,
        (error as Partial<McpInstallError>).isOffline
          ? `${hint ?? ""} The user must do this.`
          : "The user must correct the server's install commands.",
      );
    case "McpStartError":
      return failure(`Server ${name} could not be started: ${summary}`, hint, usersConfiguration, network);
    case "McpProtocolError":
      if (codeOf(error) === "INVALID_RESULT") return failure(summary);
      return failure(
        `Server ${name} stopped working during ${what}: ${summary}`,
        "The next call starts it again, without what it had in memory and in files.",
      );
    case "McpToolError":
      return failure(summary, hint, tellsOfNoNetwork(summary) ? network : undefined);
    case "TimeoutError":
      return failure(
        `Server ${name} did not answer ${what} in time.`,
        codeOf(error) === "REQUEST_REFUSED" ? hint : "Call again with more time, or ask for less.",
        network,
      );
    default:
      return error;
  }
}

function codeOf(error: Error): unknown {
  return "code" in error ? error.code : undefined;
}
