/** Selects the tools of a profile that are offered. */

import { instead } from "../errors/similar-names.js";
import type { Profile } from "../session/profile.js";
import { OptionError } from "../settings.js";
import { type Tool, toolsets } from "../tools/definition/tool.js";

/** The options that select tools and toolsets; undefined when an option was not given. */
export interface ToolSelection {
  /** Toolsets to offer: `default` names those that are offered without this option, `all` names every toolset. */
  readonly toolsets?: readonly string[] | undefined;
  /** Tools to offer: in addition to the toolsets when both are given, else only these. */
  readonly tools?: readonly string[] | undefined;
  readonly excludeTools?: readonly string[] | undefined;
  /** Offers only tools that change nothing, whatever else is selected. */
  readonly readOnly?: boolean | undefined;
}

/** The profile with its selected tools. Sentences of its advice and instructions that name other tools are left out. */
export function offeredProfile(profile: Profile, selection: ToolSelection): Profile {
  const tools = selectTools(profile, selection);
  const missing = profile.tools.filter((tool) => !tools.includes(tool)).map(({ name }) => name);
  const isKept = (text: string): boolean => !missing.some((name) => new RegExp(`\\b${name}\\b`).test(text));
  const clauses = (text: string): string =>
    text
      .split(/(?<=[.;]) /)
      .filter(isKept)
      .join(" ")
      .replace(/;$/, ".");
  const { advice, instructions } = profile;
  const steps = Object.entries(advice.steps).map(([code, step]) => [code, clauses(step)]);
  return {
    ...profile,
    tools,
    instructions: instructions.split("\n").filter(isKept).join("\n"),
    advice: {
      ...advice,
      steps: Object.fromEntries(steps),
      otherwise: clauses(advice.otherwise),
      leftBehind: clauses(advice.leftBehind),
    },
  };
}

/** The selected tools, in the profile's order. */
export function selectTools(profile: Profile, selection: ToolSelection): readonly Tool[] {
  const known = profile.tools.map(({ name }) => name);
  const chosen = namesAmong(known, selection.tools, "--tools", profile);
  const excluded = namesAmong(known, selection.excludeTools, "--exclude-tools", profile);
  const sets = chosenToolsets(profile, selection);
  const offered = profile.tools.filter(
    ({ name, toolset, annotations }) =>
      // The tools for MCP servers are there because servers were named, so no other choice leaves them out.
      (sets.has(toolset) || toolset === "mcp" || chosen.has(name)) &&
      !excluded.has(name) &&
      (selection.readOnly !== true || annotations.readOnlyHint),
  );
  if (offered.length > 0) return offered;
  throw new OptionError(
    "These options exclude every tool; drop --read-only or --exclude-tools, or name more with --tools or --toolsets.",
  );
}

function chosenToolsets(profile: Profile, selection: ToolSelection): ReadonlySet<string> {
  const known = toolsets.filter((set) => profile.tools.some(({ toolset }) => toolset === set));
  const standard = known.filter((set) => profile.offByDefault?.includes(set) !== true);
  if (selection.toolsets === undefined) return new Set(selection.tools === undefined ? standard : []);
  const named = namesAmong([...known, "default", "all"], selection.toolsets, "--toolsets", profile);
  return new Set([...named, ...(named.has("default") ? standard : []), ...(named.has("all") ? known : [])]);
}

function namesAmong(
  known: readonly string[],
  named: readonly string[] = [],
  option: string,
  profile: Profile,
): ReadonlySet<string> {
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return new Set(named);
  const problem = `${option}: profile ${profile.name} has no "${unknown.slice(0, 200)}"`;
  throw new OptionError(`${problem}; ${instead(unknown, known)}`);
}
