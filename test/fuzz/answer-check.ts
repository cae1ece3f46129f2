import { agentErrorCodes, controlPlaneErrorCodes } from "@cloud-sandbox/protocol";
import type { DocumentedOperation } from "../support/documents/contract-document.js";
import type { RawAnswer } from "./raw-exchange.js";

const agentCodes: readonly string[] = agentErrorCodes;
const controlPlaneCodes: readonly string[] = controlPlaneErrorCodes;

/** Lists what the contract does not allow in an answer to an operation. Empty if the answer is as documented. */
export function undocumented(
  operation: DocumentedOperation,
  method: string,
  answer: RawAnswer,
  secrets: readonly string[],
): string[] {
  const { status, headers, body } = answer;
  const text = body.toString();
  const found = secrets.filter((secret) => text.includes(secret)).map(() => "the answer holds a secret");
  const documented = operation.answers.get(status);
  if (!documented) return [...found, `status ${status} is not documented: ${text.slice(0, 300)}`];
  if (status >= 500) found.push(`status ${status} makes clients repeat the request: ${text.slice(0, 300)}`);
  if (typeof headers["x-request-id"] !== "string") found.push("there is no X-Request-ID");
  if (method === "HEAD" || status === 204 || status === 304) return found;

  const media = headers["content-type"]?.split(";")[0] ?? "none";
  const validate = documented[media];
  if (!validate) return [...found, `content type ${media} is not documented for ${status}`];
  if (media !== "application/json") return found;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [...found, `the body is not JSON: ${text.slice(0, 300)}`];
  }
  const wrong = validate(value);
  if (wrong !== undefined)
    found.push(`the body is not as documented for ${status}: ${wrong}: ${text.slice(0, 300)}`);
  return status < 400 ? found : [...found, ...envelopeProblems(operation, value, headers["x-request-id"])];
}

function envelopeProblems(operation: DocumentedOperation, value: unknown, id: unknown): string[] {
  const { error, message, hint, code, request_id } = value as Readonly<Record<string, unknown>>;
  // Codes of an agent operation may also come from the gateway in front of the agent: it answers for sandboxes that do
  // not run.
  const codes = operation.plane === "agent" ? [...agentCodes, ...gatewayCodes] : controlPlaneCodes;
  const told = operation.plane === "agent" ? error : (error as { message?: unknown } | undefined)?.message;
  return [
    ...(typeof code === "string" && codes.includes(code)
      ? []
      : [`the code ${String(code)} is not documented`]),
    ...(typeof message === "string" && /\w+ \w+/.test(message)
      ? []
      : [`the message says nothing: ${String(message)}`]),
    ...(told === message && (hint === undefined || String(message).endsWith(` ${String(hint)}`))
      ? []
      : ["error is not the message, or does not end with the hint"]),
    ...(request_id === id ? [] : ["request_id is not X-Request-ID"]),
  ];
}

const gatewayCodes = controlPlaneCodes.filter((code) => code.startsWith("SANDBOX_"));
