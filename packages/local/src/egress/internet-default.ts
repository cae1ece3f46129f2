import type { RequestedEgress } from "@cloud-sandbox/server-kit/handlers";
import { InvalidEgressError } from "../errors/local-errors.js";
import { DestinationPattern } from "./destination-pattern.js";

/** The environment variable with the default internet access: `on`, `off`, or `allow=` and destinations separated by commas. */
export const internetVariable = "CLOUD_SANDBOX_INTERNET";

/** The operator's default, from the option or the environment; else the contract's default, `on`. */
export function internetSetting(
  option: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): { readonly text: string; readonly egress: RequestedEgress } {
  const text = (option?.trim() || env[internetVariable]?.trim() || "on").toLowerCase();
  return { text, egress: parse(text) };
}

/** The egress of a sandbox whose create request does not set it. */
function parse(text: string): RequestedEgress {
  if (text === "on" || text === "off") return { internetAccess: text === "on" };
  const [, list] = /^allow=(.+)$/.exec(text) ?? [];
  const allow = list?.split(",").map((entry) => entry.trim()) ?? [];
  const isList = allow.length > 0 && allow.every((entry) => DestinationPattern.parse(entry));
  if (isList) return { internetAccess: true, allow };
  throw new InvalidEgressError(
    `${JSON.stringify(text.slice(0, 80))} is not a valid value for --internet or ${internetVariable}. Write on, off, or allow= and destinations separated by commas, as in allow=pypi.org,*.pythonhosted.org:443.`,
  );
}
