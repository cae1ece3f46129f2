/** Every profile, the default first. */
import type { Profile } from "../session/profile.js";
import { codeExecuter } from "./code-executer.js";
import { codemode } from "./codemode.js";
import { hopx } from "./hopx.js";
import { microsandbox } from "./microsandbox.js";

export const profiles: readonly [Profile, ...Profile[]] = [hopx, codemode, microsandbox, codeExecuter];
