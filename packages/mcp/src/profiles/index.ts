/** Every profile, the default first. A profile is loaded when it has been chosen. */
import type { Profile } from "../session/profile.js";

export interface ProfileChoice {
  /** As it is given to `--profile`. */
  readonly name: string;
  /** What it is, in a line of `--help`. */
  readonly title: string;
  readonly load: () => Promise<Profile>;
}

export const profiles: readonly [ProfileChoice, ...ProfileChoice[]] = [
  {
    name: "hopx",
    title: "The tools of HOPX's MCP server",
    load: async () => (await import("./hopx/profile.js")).hopx,
  },
  {
    name: "codemode",
    title: "The tools of mcp-codemode",
    load: async () => (await import("./codemode/profile.js")).codemode,
  },
  {
    name: "microsandbox",
    title: "The tools of microsandbox's MCP server",
    load: async () => (await import("./microsandbox/profile.js")).microsandbox,
  },
  {
    name: "code-executer",
    title: "The tools of Containerized Code Executer",
    load: async () => (await import("./code-executer/profile.js")).codeExecuter,
  },
];
