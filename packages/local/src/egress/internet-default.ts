import type { EgressWish } from "@cloud-sandbox/server-kit/handlers";
import { InvalidEgressError } from "../errors/local-errors.js";
import { DestinationPattern } from "./destination-pattern.js";

/** Named as operators name it: `on`, `off`, or `allow=` with destinations and commas between them. */
export const internetVariable = "CLOUD_SANDBOX_INTERNET";

/** What the operator has set, or else the contract's default. */
export function internetSetting(
  option: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): { readonly text: string; readonly wish: EgressWish } {
  const text = (option?.trim() || env[internetVariable]?.trim() || "on").toLowerCase();
  return { text, wish: parse(text) };
}

/** The way out of a sandbox whose create says nothing of it. */
function parse(text: string): EgressWish {
  if (text === "on" || text === "off") return { internetAccess: text === "on" };
  const [, list] = /^allow=(.+)$/.exec(text) ?? [];
  const allow = list?.split(",").map((entry) => entry.trim()) ?? [];
  const isList = allow.length > 0 && allow.every((entry) => DestinationPattern.parse(entry));
  if (isList) return { internetAccess: true, allow };
  throw new InvalidEgressError(
    `${JSON.stringify(text.slice(0, 80))} is no setting of --internet or ${internetVariable}. Write on, off, or allow= and destinations with commas between them, as in allow=pypi.org,*.pythonhosted.org:443.`,
  );
}
