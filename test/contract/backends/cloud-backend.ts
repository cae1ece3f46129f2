import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** The server and key in the environment, as the client reads them. Undefined if there are none. */
export function cloudSettings(): Pick<Backend, "url" | "apiKey"> | undefined {
  const { CLOUD_SANDBOX_API_KEY, CLOUD_SANDBOX_BASE_URL, HOPX_API_KEY, HOPX_BASE_URL } = process.env;
  const apiKey = CLOUD_SANDBOX_API_KEY || HOPX_API_KEY;
  if (!apiKey) return undefined;
  return { apiKey, url: CLOUD_SANDBOX_BASE_URL || HOPX_BASE_URL || "https://api.hopx.dev" };
}

/** A cloud as a backend. For the tests of webhooks its sandboxes must be able to send requests to this machine. */
export async function startCloudBackend(): Promise<Backend> {
  const settings = cloudSettings();
  if (!settings) throw new Error("Set CLOUD_SANDBOX_API_KEY.");
  return networkBackend({ ...settings, languages: ["python", "javascript", "bash", "go"] });
}
