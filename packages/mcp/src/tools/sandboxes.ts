import type { Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { entryLimit, firstEntries } from "../results/output-limit.js";
import { sandboxOutput, sandboxResult, sandboxSummary } from "../results/sandbox-result.js";
import {
  internetAccess,
  lifetime,
  maxResults,
  region,
  sandboxId,
  templateName,
  text,
  variables,
} from "./definition/input-fields.js";
import { additive, destructive, idempotent, readOnly, type Tool, tool } from "./definition/tool.js";
import { createOrFind, hasRequestedLimits } from "./sandbox-creation.js";

const ignored = z.number("must be a number").optional().describe("Ignored: the template decides");
const cpus = "must be a number of 0.05 to 1024";
const mebibytes = "must be a whole number of 128 to 1048576 MiB";

const health = tool({
  name: "health",
  title: "Check the service",
  description: "Says whether the sandbox service answers, and how it isolates sandboxes.",
  toolset: "sandboxes",
  annotations: readOnly,
  input: z.object({}),
  output: z.looseObject({ status: z.string(), isolation: z.string().optional() }),
  handler: async ({ client, signal }) => {
    const { status, version, runtime, isolation } = await client.health({ signal });
    return { status, version, runtime, isolation };
  },
});

const creation = z.object({
  template_id: templateName.optional().describe("Template, by id"),
  template_name: templateName.optional().describe("Template, by name; default code-interpreter"),
  snapshot: text.optional().describe("Snapshot to begin with"),
  region,
  timeout_seconds: lifetime.default(600).describe("Seconds that it lives"),
  internet_access: internetAccess,
  ask_egress: z.boolean("must be true or false").optional().describe("Ask the user about each host"),
  env_vars: variables.optional().describe("Variables of every run in it"),
  secrets: variables.optional().describe("Stored credentials, by variable; its code never has them"),
  vcpu: z.number(cpus).min(0.05, cpus).max(1024, cpus).optional().describe("Processors, on this machine"),
  memory_mb: z
    .int(mebibytes)
    .min(128, mebibytes)
    .max(1_048_576, mebibytes)
    .optional()
    .describe("MiB of memory, on this machine"),
  disk_gb: ignored,
  on_timeout: z.enum(["delete", "stop"]).optional().describe("stop keeps its files; the next call starts it"),
  idle_timeout_seconds: lifetime.optional().describe("Stop it so long after its last use"),
  copy_of: text.optional().describe("Directory of the user, copied to /repo"),
  name: text.optional().describe("Returns your sandbox of this name if there is one"),
  namespace: text.optional().describe("Another sandbox may have the name in another namespace"),
  include_auth_token: z
    .boolean("must be true or false")
    .default(false)
    .describe("Return its token; rarely needed"),
});

const createSandbox = tool({
  name: "create_sandbox",
  title: "Create a sandbox",
  description:
    "Creates a sandbox for several steps and returns its id. It lives timeout_seconds, then it is deleted with its files, unless on_timeout is stop; update_sandbox_timeout gives it longer, delete_sandbox ends it. It is also deleted when this server stops.",
  toolset: "sandboxes",
  annotations: { ...additive, openWorldHint: true },
  input: creation,
  output: sandboxOutput.extend({
    created: z.boolean().describe("false: a sandbox of this name existed"),
    note: z.string().optional(),
  }),
  handler: async ({ include_auth_token, ...call }) => {
    const { sandbox, created } = await createOrFind(call);
    const { id } = sandbox;
    const { name, namespace, env_vars } = call;
    const notes = [
      !created &&
        env_vars !== undefined &&
        "The sandbox existed, so env_vars were not set: set them with env_set.",
      created &&
        !hasRequestedLimits(sandbox, call) &&
        "The sandbox has its template's size: this service accepts no other.",
    ].filter((note) => typeof note === "string");
    const note = notes.length > 0 ? notes.join(" ") : undefined;
    const result = { ...sandboxResult(sandbox), name, namespace, created, note };
    if (!include_auth_token) return result;
    const { client } = call;
    const init = { params: { path: { id } } };
    const { data } = await client.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", init);
    return { ...result, auth_token: data?.auth_token, token_expires_at: data?.token_expires_at };
  },
});

const mostListed = 100;

const listSandboxes = tool({
  name: "list_sandboxes",
  title: "List sandboxes",
  description: "Lists the account's sandboxes.",
  toolset: "sandboxes",
  annotations: readOnly,
  input: z.object({
    limit: maxResults(100, mostListed),
    status: z
      .enum(["creating", "running", "paused", "stopped", "error"])
      .optional()
      .describe("Only with this status"),
    region: region.describe("Only in this region"),
  }),
  output: z.looseObject({
    data: z.array(sandboxOutput),
    count: z.number(),
    has_more: z.boolean(),
    note: z.string().optional(),
  }),
  handler: async ({ client, sandboxes, limit: asked, status, region, signal }) => {
    const { limit, note } = entryLimit(asked, mostListed);
    const own: Sandbox[] = [];
    let hasMore = false;
    // Read as many pages as needed: the first ones may contain only sandboxes of other clients.
    for await (const page of client.sandboxes.list({ status, region, signal }).pages()) {
      own.push(...page.items.filter(({ id }) => sandboxes.isOwn(id)));
      hasMore = page.hasMore;
      if (own.length > limit) break;
    }
    const { items, truncated } = firstEntries(own.map(sandboxSummary), limit);
    return { data: items, count: items.length, has_more: truncated || hasMore, note };
  },
});

const onSandbox = z.object({ id: sandboxId });

const getSandbox = tool({
  name: "get_sandbox",
  title: "Get a sandbox",
  description: "Gets a sandbox's status, template, deadline and URL.",
  toolset: "sandboxes",
  annotations: readOnly,
  input: onSandbox,
  output: sandboxOutput,
  handler: async ({ client, id, signal }) => sandboxResult(await client.sandboxes.get(id, { signal })),
});

const deleteSandbox = tool({
  name: "delete_sandbox",
  title: "Delete a sandbox",
  description: "Deletes a sandbox with all its files and processes.",
  toolset: "sandboxes",
  annotations: destructive,
  input: onSandbox,
  output: z.looseObject({ id: z.string(), status: z.string() }),
  handler: async ({ client, sandboxes, id, signal }) => {
    // Ask first whether the sandbox exists: deleting one that does not exist succeeds, but the answer must say which it
    // was.
    const wasThere = await sandboxes.has(id, signal);
    await client.sandboxes.delete(id, { signal });
    sandboxes.forget(id);
    return { id, status: wasThere ? "deleted" : "not_found" };
  },
});

const pauseSandbox = tool({
  name: "pause_sandbox",
  title: "Pause a sandbox",
  description: "Freezes a sandbox: memory and files are kept, nothing runs until resume_sandbox.",
  toolset: "sandboxes",
  annotations: idempotent,
  input: onSandbox,
  output: z.looseObject({ id: z.string(), status: z.string() }),
  handler: async ({ client, id, signal }) => ({ id, status: await client.sandboxes.pause(id, { signal }) }),
});

const resumeSandbox = tool({
  name: "resume_sandbox",
  title: "Resume a sandbox",
  description: "Wakes a paused sandbox.",
  toolset: "sandboxes",
  annotations: idempotent,
  input: onSandbox,
  output: sandboxOutput,
  handler: async ({ client, id, signal }) => {
    const status = await client.sandboxes.resume(id, { signal });
    return { ...sandboxResult(await client.sandboxes.get(id, { signal })), status };
  },
});

const updateSandboxTimeout = tool({
  name: "update_sandbox_timeout",
  title: "Change a sandbox's deadline",
  description: "Sets how long a sandbox lives from now.",
  toolset: "sandboxes",
  annotations: idempotent,
  input: onSandbox.extend({ timeout_seconds: lifetime.describe("Seconds from now") }),
  output: z.looseObject({
    id: z.string(),
    status: z.string(),
    timeout_seconds: z.number(),
    expires_at: z.string(),
  }),
  handler: async ({ client, sandboxes, id, timeout_seconds, signal }) => {
    const expiresAt = await client.sandboxes.setTimeout(id, timeout_seconds, { signal });
    sandboxes.setDeadline(id, expiresAt);
    return { id, status: "updated", timeout_seconds, expires_at: expiresAt.toISOString() };
  },
});

export const sandboxTools: readonly Tool[] = [
  health,
  createSandbox,
  listSandboxes,
  getSandbox,
  deleteSandbox,
  pauseSandbox,
  resumeSandbox,
  updateSandboxTimeout,
];
