/** What code has changed in its copy of a directory of the user, and how the user lets it into the directory. */
import * as z from "zod";
import { cutMiddle, firstEntries, resultBudget } from "../results/output-limit.js";
import { sandboxReference, text } from "./definition/input-fields.js";
import { destructive, readOnlyInside, sandboxTool, type Tool } from "./definition/tool.js";

const reviewChanges = sandboxTool({
  name: "review_changes",
  title: "Review changes",
  description:
    "Lists what code changed in the sandbox's copy of the user's directory, or shows one file as a unified diff.",
  toolset: "changes",
  annotations: readOnlyInside,
  input: z.object({
    ...sandboxReference,
    path: text.optional().describe("Changed file to show, as /repo/a.txt"),
  }),
  output: z.looseObject({
    changes: z.array(z.looseObject({ path: z.string(), kind: z.string() })).optional(),
    count: z.number().optional(),
    diff: z.string().optional(),
    truncated: z.boolean(),
  }),
  handler: async ({ sandbox, path, signal }) => {
    if (path !== undefined) {
      const { diff, omitted } = await sandbox.diff(path, { signal });
      const cut = cutMiddle(diff, resultBudget);
      return { diff: cut.text, omitted, truncated: cut.text !== diff };
    }
    const changes = (await sandbox.changes({ signal })).map(({ versionControl, ...change }) => ({
      ...change,
      version_control: versionControl,
    }));
    const { items, truncated } = firstEntries(changes, changes.length);
    return { changes: items, count: changes.length, truncated };
  },
});

const shownPaths = 40;

const applyChanges = sandboxTool({
  name: "apply_changes",
  title: "Apply changes to the user's directory",
  description:
    "Writes reviewed changes to the user's directory, after asking the user. Give each path of review_changes with its digest.",
  toolset: "changes",
  annotations: { ...destructive, openWorldHint: true },
  input: z.object({
    ...sandboxReference,
    paths: z
      .array(z.object({ path: text, digest: text.optional() }))
      .min(1, "must name a path")
      .max(1000, "must be at most 1000 paths")
      .describe("What to write"),
  }),
  output: z.looseObject({
    applied: z.boolean().describe("Whether all of them are in the directory now"),
    outcomes: z.array(z.looseObject({ path: z.string(), status: z.string() })),
  }),
  handler: async ({ sandbox, paths, signal, consent }) => {
    const changes = new Map((await sandbox.changes({ signal })).map((change) => [change.path, change]));
    const lines = paths.map(({ path }) => {
      const change = changes.get(path);
      return `${change?.kind ?? "unknown"} ${JSON.stringify(path)}${change?.runs ? " (programs may run it by themselves)" : ""}`;
    });
    const rest = lines.length - shownPaths;
    const list = [...lines.slice(0, shownPaths), ...(rest > 0 ? [`and ${rest} more`] : [])];
    await consent(`Write these changes of sandbox ${sandbox.id} to your directory?\n${list.join("\n")}`);
    // What the user was shown is what is written: the digests are of now, unless the caller reviewed others.
    const accepted = paths.map(({ path, digest }) => ({ path, digest: digest ?? changes.get(path)?.digest }));
    const outcomes = await sandbox.apply({ paths: accepted, signal });
    const isAll = outcomes.every(({ status }) => status === "applied");
    return { applied: isAll, outcomes: outcomes.map((outcome) => ({ ...outcome })) };
  },
});

export const changeTools: readonly Tool[] = [reviewChanges, applyChanges];
