import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { wireNames } from "../results/answer.js";
import { cutMiddle, entryLimit, firstEntries, resultBudget } from "../results/output-limit.js";
import { command, maxResults, templateName, text, variables } from "./definition/input-fields.js";
import { destructive, executing, readOnly, type Tool, tool } from "./definition/tool.js";
import { detachAfterSeconds } from "./detached.js";
import { buildUntil, definitionOf } from "./template-building.js";

const mostListed = 100;

const listTemplates = tool({
  name: "list_templates",
  title: "List templates",
  description: "Lists or searches templates, from which sandboxes are made.",
  toolset: "templates",
  annotations: readOnly,
  input: z.object({
    limit: maxResults(10, mostListed),
    fields: z
      .string()
      .default("id,name,description,category,language,status")
      .describe("Fields to return, separated by commas, or all"),
    category: z.string().min(1).optional().describe("Only of this category"),
    language: z.string().min(1).optional().describe("Only with this language"),
    query: text.optional().describe("Only with this text in name or description"),
  }),
  output: z.looseObject({
    data: z.array(z.looseObject({})),
    count: z.number(),
    has_more: z.boolean(),
    note: z.string().optional(),
  }),
  handler: async ({ client, limit: asked, fields, category, language, query, signal }) => {
    const wanted = wantedFields(fields);
    const { limit, note } = entryLimit(asked, mostListed);
    const templates: Record<string, unknown>[] = [];
    let hasMore = false;
    for await (const template of client.templates.list({ category, language, text: query, signal })) {
      hasMore = templates.length === limit;
      if (hasMore) break;
      const entries = Object.entries(wireNames(template));
      templates.push(Object.fromEntries(entries.filter(([name]) => wanted.has(name))));
    }
    const { items, truncated } = firstEntries(templates, limit);
    return { data: items, count: items.length, has_more: hasMore || truncated, note };
  },
});

const knownFields = [
  "id",
  "name",
  "display_name",
  "description",
  "category",
  "language",
  "status",
  "is_active",
  "is_public",
  "resources",
  "features",
  "created_at",
  "updated_at",
] as const;

function wantedFields(text: string): ReadonlySet<string> {
  if (text.trim() === "all") return new Set(knownFields);
  const wanted = text.split(",").map((field) => field.trim());
  const unknown = wanted.find((field) => !knownFields.some((known) => known === field));
  if (unknown === undefined) return new Set(wanted);
  throw new InvalidArgumentsError(
    `fields: there is no ${JSON.stringify(unknown.slice(0, 200))}; give some of ${knownFields.join(", ")}, or all.`,
  );
}

const getTemplate = tool({
  name: "get_template",
  title: "Get a template",
  description: "Gets a template's languages, features and resources.",
  toolset: "templates",
  annotations: readOnly,
  input: z.object({ name: z.string().min(1).describe("Name or id") }),
  output: z.looseObject({ name: z.string() }),
  handler: async ({ client, name, signal }) => {
    const template = await client.templates.get(name, { signal });
    return { ...wireNames(template), name: template.name };
  },
});

const buildInput = z.object({
  name: text.describe("Name of the new template"),
  from: templateName.default("code-interpreter").describe("Template or image to begin with"),
  commands: z
    .array(command, "must be a list of commands")
    .default([])
    .describe("Commands to run in order; on this machine without root: pip and npm, not apt-get"),
  env_vars: variables.optional().describe("Environment variables of its sandboxes; no secrets"),
  start_command: command.optional().describe("Runs in every sandbox made from it"),
  update: z.boolean("must be true or false").default(false).describe("Replaces a template of this name"),
});

const buildTemplate = tool({
  name: "build_template",
  title: "Build a template",
  description:
    "Builds a template with packages installed and waits until sandboxes can be made from it; after 45 s the call returns, the build goes on, and get_template shows its status.",
  toolset: "templates",
  annotations: executing,
  input: buildInput,
  output: z.looseObject({
    name: z.string(),
    status: z.string(),
    log: z.string(),
    note: z.string().optional(),
  }),
  handler: async ({ client, name, update, environment, offered, signal, report, ...definition }) => {
    const log: string[] = [];
    const outcome = await buildUntil(client, await definitionOf(definition), {
      name,
      update,
      signal,
      seconds: detachAfterSeconds({ environment, offered }, "get_template"),
      onLog: (line) => {
        log.push(line);
        report(line.slice(0, 200));
      },
    });
    const build = { name, log: cutMiddle(log.join("\n"), resultBudget).text };
    if (outcome === undefined) return { ...build, status: "building", note: builtOn };
    return { ...build, ...wireNames(outcome), status: outcome.status ?? "active" };
  },
});

const builtOn =
  "The build goes on: get_template shows active when sandboxes can be made from the template, or failed; build_template with update then says why.";

const deleteTemplate = tool({
  name: "delete_template",
  title: "Delete a template",
  description: "Deletes one of your templates; sandboxes made from it stay.",
  toolset: "templates",
  annotations: destructive,
  input: z.object({ name: text.describe("Name or id") }),
  output: z.looseObject({ name: z.string(), status: z.string() }),
  handler: async ({ client, name, signal }) => {
    const { id } = await client.templates.get(name, { signal });
    await client.templates.delete(id, { signal });
    return { name, status: "deleted" };
  },
});

export const templateTools: readonly Tool[] = [listTemplates, getTemplate, buildTemplate, deleteTemplate];
