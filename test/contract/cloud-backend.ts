import type { Backend } from "./backend.js";
import { networkBackend } from "./network-backend.js";

/** The account that the environment names, as the client reads it; undefined where it names none. */
export function cloudSettings(): Pick<Backend, "url" | "apiKey"> | undefined {
  const { CLOUD_SANDBOX_API_KEY, CLOUD_SANDBOX_BASE_URL, HOPX_API_KEY, HOPX_BASE_URL } = process.env;
  const apiKey = CLOUD_SANDBOX_API_KEY || HOPX_API_KEY;
  if (!apiKey) return undefined;
  return { apiKey, url: CLOUD_SANDBOX_BASE_URL || HOPX_BASE_URL || "https://api.hopx.dev" };
}

/** A cloud. Its sandboxes must be able to report to this machine for the statements about webhooks. */
export async function startCloudBackend(): Promise<Backend> {
  const settings = cloudSettings();
  if (!settings) throw new Error("Set CLOUD_SANDBOX_API_KEY.");
  return networkBackend({ ...settings, languages: ["python", "javascript", "bash", "go"] });
}
