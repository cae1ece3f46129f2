import * as z from "zod";
import { cutMiddle, firstEntries } from "../results/output-limit.js";
import { looksSecret, masked } from "../results/secret-values.js";
import { sandboxReference, variables } from "./definition/input-fields.js";
import { destructive, readOnlyInside, sandboxTool, type Tool } from "./definition/tool.js";

/** Bytes of each value. */
const valueBudget = 2000;

const envGet = sandboxTool({
  name: "env_get",
  title: "List environment variables",
  description: "Lists the variables that every run in a sandbox sees. Values that look secret are masked.",
  toolset: "env",
  annotations: readOnlyInside,
  input: z.object({ ...sandboxReference }),
  output: z.looseObject({
    env_vars: z.record(z.string(), z.string()),
    count: z.number(),
    truncated: z.boolean(),
  }),
  handler: async ({ sandbox, signal }) => {
    const variables = Object.entries(await sandbox.env.effective({ signal })).sort();
    const shown = variables.map(([name, value]) => {
      const shown = looksSecret(name, value) ? masked : cutMiddle(value, valueBudget).text;
      return [name, shown] as const;
    });
    const { items, truncated } = firstEntries(shown, shown.length);
    return { env_vars: Object.fromEntries(items), count: variables.length, truncated };
  },
});

const envSet = sandboxTool({
  name: "env_set",
  title: "Set environment variables",
  description: "Sets variables for every later run in a sandbox.",
  toolset: "env",
  annotations: destructive,
  input: z.object({
    ...sandboxReference,
    env_vars: variables.describe("Names and values"),
    merge: z.boolean().default(true).describe("false removes all others"),
  }),
  output: z.looseObject({
    status: z.string(),
    variables_set: z.array(z.string()),
    count: z.number(),
    merge: z.boolean(),
  }),
  handler: async ({ sandbox, env_vars, merge, signal }) => {
    await (merge ? sandbox.env.merge(env_vars, { signal }) : sandbox.env.replace(env_vars, { signal }));
    const variables_set = Object.keys(env_vars).sort();
    return { status: "success", variables_set, count: variables_set.length, merge };
  },
});

const envClear = sandboxTool({
  name: "env_clear",
  title: "Clear environment variables",
  description: "Removes all variables that were set for a sandbox.",
  toolset: "env",
  annotations: destructive,
  input: z.object({ ...sandboxReference }),
  output: z.looseObject({ status: z.string(), count: z.number() }),
  handler: async ({ sandbox, signal }) => {
    await sandbox.env.clear({ signal });
    return { status: "cleared", count: 0, env_vars: {} };
  },
});

export const environmentTools: readonly Tool[] = [envGet, envSet, envClear];
