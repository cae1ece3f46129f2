/** Files of sandboxes as they were at one moment, to go back to and to begin others with. */
import type { Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { firstEntries } from "../results/output-limit.js";
import { sandboxOutput, sandboxSummary } from "../results/sandbox-result.js";
import { lifetime, sandboxReference, text } from "./definition/input-fields.js";
import { additive, destructive, readOnly, sandboxTool, type Tool, tool } from "./definition/tool.js";

const snapshotOutput = z.looseObject({ id: z.string(), created_at: z.string().optional() });

const createSnapshot = sandboxTool({
  name: "create_snapshot",
  title: "Take a snapshot",
  description:
    "Keeps the files and environment variables of a sandbox as they are now. restore_sandbox goes back to it, create_sandbox with snapshot begins with it.",
  toolset: "snapshots",
  annotations: additive,
  input: z.object({ ...sandboxReference, name: text.optional().describe("Name to find it by") }),
  output: snapshotOutput,
  handler: async ({ sandbox, name, signal }) => snapshotResult(await sandbox.snapshot({ name, signal })),
});

const restoreSandbox = sandboxTool({
  name: "restore_sandbox",
  title: "Go back to a snapshot",
  description: "Gives a sandbox the files of a snapshot, in place of its own. Its processes end.",
  toolset: "snapshots",
  annotations: destructive,
  input: z.object({ ...sandboxReference, snapshot: text.describe("Id or name of the snapshot") }),
  output: z.looseObject({ id: z.string(), status: z.string() }),
  handler: async ({ sandbox, snapshot, signal }) => {
    await sandbox.restore(snapshot, { signal });
    return { id: sandbox.id, status: sandbox.status };
  },
});

const mostForks = "must be a whole number of 1 to 20";

const forkSandbox = sandboxTool({
  name: "fork_sandbox",
  title: "Fork a sandbox",
  description: "Makes sandboxes that begin with the files of this one, to try several ways at once.",
  toolset: "snapshots",
  annotations: { ...additive, openWorldHint: true },
  input: z.object({
    ...sandboxReference,
    count: z.int(mostForks).min(1, mostForks).max(20, mostForks).default(1).describe("How many"),
    timeout_seconds: lifetime.optional().describe("Seconds that each lives"),
  }),
  output: z.looseObject({ data: z.array(sandboxOutput), errors: z.array(z.string()).optional() }),
  handler: async ({ sandbox, sandboxes, count, timeout_seconds: timeoutSeconds, signal }) => {
    const forks = await sandbox.fork({ count, timeoutSeconds, signal });
    const made = forks.flatMap((fork) => (fork instanceof Error ? [] : [fork]));
    for (const fork of made) sandboxes.adopt(fork);
    const errors = forks.flatMap((fork) => (fork instanceof Error ? [fork.message] : []));
    return { data: made.map(sandboxSummary), ...(errors.length > 0 && { errors }) };
  },
});

const listSnapshots = tool({
  name: "list_snapshots",
  title: "List snapshots",
  description: "Lists the account's snapshots, newest first.",
  toolset: "snapshots",
  annotations: readOnly,
  input: z.object({}),
  output: z.looseObject({ data: z.array(snapshotOutput), truncated: z.boolean() }),
  handler: async ({ client, signal }) => {
    const snapshots = (await client.snapshots.list({ signal })).map(snapshotResult);
    const { items, truncated } = firstEntries(snapshots, snapshots.length);
    return { data: items, truncated };
  },
});

const deleteSnapshot = tool({
  name: "delete_snapshot",
  title: "Delete a snapshot",
  description: "Deletes a snapshot. Sandboxes that began with it stay.",
  toolset: "snapshots",
  annotations: destructive,
  input: z.object({ snapshot: text.describe("Id or name") }),
  output: z.looseObject({ id: z.string(), deleted: z.boolean() }),
  handler: async ({ client, snapshot, signal }) => {
    const { id } = await client.snapshots.get(snapshot, { signal });
    await client.snapshots.delete(id, { signal });
    return { id, deleted: true };
  },
});

type Snapshot = Awaited<ReturnType<Sandbox["snapshot"]>>;

const snapshotResult = ({ id, name, sandboxId, template, sizeBytes, createdAt, consistent }: Snapshot) => ({
  id,
  name,
  sandbox_id: sandboxId,
  template,
  size_bytes: sizeBytes,
  created_at: createdAt?.toISOString(),
  consistent,
});

export const snapshotTools: readonly Tool[] = [
  createSnapshot,
  listSnapshots,
  restoreSandbox,
  forkSandbox,
  deleteSnapshot,
];
