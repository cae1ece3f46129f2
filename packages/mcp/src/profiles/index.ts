/** All profiles, the default first. Only the chosen profile's code is loaded. */
import type { Profile } from "../session/profile.js";

export interface ProfileChoice {
  /** The profile's name, as `--profile` takes it. */
  readonly name: string;
  /** A one-line description for `--help`. */
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
