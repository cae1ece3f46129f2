import { CommandError } from "../errors/command-error.js";
import { type Login, readLogin } from "./login-file.js";

/**
 * The server that a command uses, and where its address and key come from. Undefined means sandboxes on this machine.
 */
export interface Account {
  readonly url: string;
  readonly apiKey: string;
  readonly keyFrom: "environment" | "login";
}

/** The address of the cloud. */
export const cloudUrl = "https://api.hopx.dev";

/**
 * Chooses the server: `--url`, else the environment, else the login. Undefined when none of them names one: the client
 * then decides, and starts its backend on this machine. A key from the login goes only to the address that it was given for.
 */
export function chooseAccount(asked: string | undefined): Account | undefined {
  const url = asked ?? setting("BASE_URL");
  const key = setting("API_KEY");
  if (key !== undefined && (asked !== undefined || process.env.CLOUD_SANDBOX_BACKEND !== "local"))
    return { url: url ?? cloudUrl, apiKey: key, keyFrom: "environment" };
  // The client reads these two variables itself.
  const { CLOUD_SANDBOX_BACKEND: backend } = process.env;
  if (asked === undefined && (backend === "local" || setting("BEARER_TOKEN"))) return undefined;
  const login = readLogin();
  if (login !== undefined && (url === undefined || isSame(login, url))) return { ...login, keyFrom: "login" };
  if (url === undefined) return undefined;
  throw new CommandError(
    "API_KEY_MISSING",
    `There is no API key for ${url}.`,
    `Log in with "cloud-sandbox login --url ${url}", or set CLOUD_SANDBOX_API_KEY.`,
  );
}

function isSame(login: Login, url: string): boolean {
  return normal(login.url) === normal(url);
}

function normal(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replace(/\/(v1\/?)?$/, "") : url;
}

function setting(suffix: string): string | undefined {
  return process.env[`CLOUD_SANDBOX_${suffix}`] || process.env[`HOPX_${suffix}`] || undefined;
}
