import * as z from "zod";
import { looks, replaces } from "../annotations.js";
import { sandboxReference, variables } from "../input-fields.js";
import { sandboxTool } from "../tool.js";

/** Values never leave the sandbox through these tools: a variable is as likely a secret as not. */
const masked = "***MASKED***";

export const envGet = sandboxTool({
  name: "env_get",
  title: "List environment variables",
  description: "Lists the names of the variables that every run in a sandbox sees. Values are masked.",
  toolset: "env",
  annotations: looks,
  input: z.object({ ...sandboxReference }),
  output: z.looseObject({
    env_vars: z.record(z.string(), z.string()).describe("Names, each with a mask for its value"),
    count: z.number(),
  }),
  handler: async ({ sandbox, signal }) => {
    const names = Object.keys(await sandbox.env.get({ signal })).sort();
    return { env_vars: Object.fromEntries(names.map((name) => [name, masked])), count: names.length };
  },
});

export const envSet = sandboxTool({
  name: "env_set",
  title: "Set environment variables",
  description: "Sets variables for every later run in a sandbox.",
  toolset: "env",
  annotations: replaces,
  input: z.object({
    ...sandboxReference,
    env_vars: variables.describe("Names and values"),
    merge: z.boolean().default(true).describe("false removes all others"),
  }),
  output: z.looseObject({ variables_set: z.array(z.string()), merge: z.boolean() }),
  handler: async ({ sandbox, env_vars, merge, signal }) => {
    await (merge ? sandbox.env.merge(env_vars, { signal }) : sandbox.env.replace(env_vars, { signal }));
    return { variables_set: Object.keys(env_vars).sort(), merge };
  },
});

export const envClear = sandboxTool({
  name: "env_clear",
  title: "Clear environment variables",
  description: "Removes all variables that were set for a sandbox.",
  toolset: "env",
  annotations: replaces,
  input: z.object({ ...sandboxReference }),
  output: z.looseObject({ status: z.string() }),
  handler: async ({ sandbox, signal }) => {
    await sandbox.env.clear({ signal });
    return { status: "cleared" };
  },
});
