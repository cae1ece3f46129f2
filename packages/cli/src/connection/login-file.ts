import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { CommandError } from "../errors/command-error.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";

/** The stored login: a server's address and a key for it. */
export interface Login {
  readonly url: string;
  readonly apiKey: string;
}

export function loginPath(): string {
  return join(configDirectory(), "login.json");
}

/** Reads the stored login, if there is one. Throws if the file is not a login. */
export function readLogin(): Login | undefined {
  const path = loginPath();
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  const login = parsed(text);
  if (login !== undefined) return login;
  throw new CommandError(
    "CONFIG_INVALID",
    `${path} is not a login.`,
    'Log in again with "cloud-sandbox login".',
  );
}

export async function writeLogin({ apiKey, url }: Login): Promise<void> {
  await writePrivateFile(loginPath(), `${JSON.stringify({ url, apiKey }, undefined, 2)}\n`);
}

/** Removes the stored login, whatever is in the file. Resolves with whether there was one. */
export async function removeLogin(): Promise<boolean> {
  try {
    await rm(loginPath());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function parsed(text: string): Login | undefined {
  try {
    const { apiKey, url } = JSON.parse(text) as Partial<Login>;
    return typeof apiKey === "string" && typeof url === "string" ? { apiKey, url } : undefined;
  } catch {
    return undefined;
  }
}

/** The directory of this user's settings: `$XDG_CONFIG_HOME/cloud-sandbox`, else `~/.config/cloud-sandbox`. */
function configDirectory(): string {
  const { XDG_CONFIG_HOME: base } = process.env;
  // The XDG specification says to ignore a relative path.
  const configuration = base !== undefined && isAbsolute(base) ? base : join(homedir(), ".config");
  return join(configuration, "cloud-sandbox");
}
