/** What code has changed in its sandbox, and how the user lets changes of a copied directory into the directory. */
import type { SandboxChange } from "cloud-sandbox";
import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { cutMiddle, firstEntries, resultBudget } from "../results/output-limit.js";
import { sandboxReference, text } from "./definition/input-fields.js";
import { destructive, readOnlyInside, sandboxTool, type Tool } from "./definition/tool.js";

const reviewChanges = sandboxTool({
  name: "review_changes",
  title: "Review changes",
  description:
    "Lists what code changed in the sandbox's copy of the user's directory, or since its template or a snapshot. Or shows one file as a unified diff.",
  toolset: "changes",
  annotations: readOnlyInside,
  input: z.object({
    ...sandboxReference,
    path: text.optional().describe("Changed file to show, as /repo/a.txt"),
    since: text.optional().describe("template or a snapshot. Default: the copy, if there is one"),
  }),
  output: z.looseObject({
    changes: z.array(z.looseObject({ path: z.string(), kind: z.string() })).optional(),
    count: z.number().optional(),
    diff: z.string().optional(),
    truncated: z.boolean(),
  }),
  handler: async ({ sandbox, path, since, signal }) => {
    if (path !== undefined) {
      const { diff, omitted } = await sandbox.diff(path, { since, signal });
      const cut = cutMiddle(diff, resultBudget);
      return { diff: cut.text, omitted, truncated: cut.text !== diff };
    }
    const changes = (await sandbox.changes({ since, signal })).map(({ versionControl, ...change }) => ({
      ...change,
      version_control: versionControl,
    }));
    const { items, truncated } = firstEntries(changes, changes.length);
    return { changes: items, count: changes.length, truncated };
  },
});

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
    // Refused if there is no copy of a directory, before the user is asked.
    await sandbox.apply({ paths: [], check: true, signal });
    const changes = new Map((await sandbox.changes({ signal })).map((change) => [change.path, change]));
    const unknown = paths.filter(({ path }) => !changes.has(path));
    if (unknown.length > 0) throw notAmongChanges(unknown.map(({ path }) => path));
    const named = paths.flatMap(({ path }) => changes.get(path) ?? []);
    const lines = named.sort((one, other) => attention(other) - attention(one)).map(questionLine);
    const question = `Write these changes of sandbox ${sandbox.id} to your directory?\n${lines.join("\n")}`;
    const digests = new Map(paths.map(({ path, digest }) => [path, digest]));
    // What the user is shown is what is written: all facts are of now, but a digest that the caller reviewed.
    const accepted = named.map(({ path, kind, type, executable, digest }) => ({
      path,
      kind,
      type,
      executable,
      digest: digests.get(path) ?? digest,
    }));
    await consent(question, accepted);
    const outcomes = await sandbox.apply({ paths: accepted, signal, requestTimeoutSeconds: applySeconds });
    const isAll = outcomes.every(({ status }) => status === "applied");
    return { applied: isAll, outcomes: outcomes.map((outcome) => ({ ...outcome })) };
  },
});

/** Longer than a server writes at most, so that what it says of each file is not lost. */
const applySeconds = 180;

/** How much a change needs to be looked at: what may run comes first, then what deletes. */
function attention({ runs, executable, versionControl, kind, entries }: SandboxChange): number {
  if (runs || versionControl) return 3;
  if (executable) return 2;
  return kind === "removed" || entries !== undefined ? 1 : 0;
}

function questionLine(change: SandboxChange): string {
  const { path, kind, type, runs, executable, versionControl, entries, target } = change;
  const isRemoved = kind === "removed";
  const facts = [
    runs && "programs may run it by themselves",
    versionControl && "version control, is not written",
    executable && "executable",
    target !== undefined && `a link to ${quoted(target)}`,
    entries !== undefined && `${isRemoved ? "removes" : "replaces"} a directory with ${entries} entries`,
  ].filter((fact) => fact !== false && fact !== undefined);
  const what = type === "directory" && !isRemoved ? `${kind} directory` : kind;
  return `${what} ${quoted(path)}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
}

/** A name in quotes, in which nothing can pass for another line or turn the direction of the text. */
const quoted = (name: string): string =>
  JSON.stringify(name).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

function notAmongChanges(paths: readonly string[]): InvalidArgumentsError {
  const shown = paths.slice(0, 5).map(quoted).join(", ");
  const rest = paths.length > 5 ? ` and ${paths.length - 5} more` : "";
  return new InvalidArgumentsError(
    `Nothing was written, because these are not among the changes: ${shown}${rest}. Name paths of review_changes; what was applied already is no change.`,
  );
}

export const changeTools: readonly Tool[] = [reviewChanges, applyChanges];
