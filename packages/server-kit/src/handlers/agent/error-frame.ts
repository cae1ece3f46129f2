import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "../../http/problem.js";

/**
 * Turns an error into a WebSocket frame. A `Problem` is sent to the client; any other error is logged, and the client
 * only learns that something went wrong.
 */
export function errorFrame(error: unknown): AgentSchemas["ErrorFrame"] {
  const timestamp = new Date().toISOString();
  if (error instanceof Problem) {
    const { message, hint, code, details } = error;
    const path = typeof details?.path === "string" && { path: details.path };
    const advice = hint !== undefined && { hint };
    return { type: "error", error: message, message, ...advice, code, ...path, timestamp };
  }
  console.error("WebSocket:", error);
  return {
    type: "error",
    error:
      "The sandbox's agent failed for an internal reason, which is in its log. Try again, or use a new sandbox.",
    code: "INTERNAL_ERROR",
    timestamp,
  };
}
