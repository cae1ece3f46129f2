import * as z from "zod";
import { looks } from "../annotations.js";
import { maxResults } from "../input-fields.js";
import { firstEntries } from "../output-limit.js";
import { tool } from "../tool.js";
import { wireNames } from "../wire-names.js";

export const listTemplates = tool({
  name: "list_templates",
  title: "List templates",
  description: "Lists what sandboxes can be made from.",
  toolset: "templates",
  annotations: looks,
  input: z.object({
    limit: maxResults(10, 100),
    fields: z
      .string()
      .default("id,name,description,category,language")
      .describe("Fields to return, separated by commas, or all"),
    category: z.string().min(1).optional().describe("Only these"),
    language: z.string().min(1).optional().describe("Only with this language"),
  }),
  output: z.looseObject({ data: z.array(z.looseObject({})), count: z.number(), has_more: z.boolean() }),
  handler: async ({ client, limit, fields, category, language, signal }) => {
    const wanted = new Set(fields.split(",").map((field) => field.trim()));
    const templates: Record<string, unknown>[] = [];
    let hasMore = false;
    for await (const template of client.templates.list({ category, language, signal })) {
      hasMore = templates.length === limit;
      if (hasMore) break;
      const entries = Object.entries(wireNames(template));
      templates.push(
        Object.fromEntries(fields === "all" ? entries : entries.filter(([name]) => wanted.has(name))),
      );
    }
    const { items, truncated } = firstEntries(templates, limit);
    return { data: items, count: items.length, has_more: hasMore || truncated };
  },
});

export const getTemplate = tool({
  name: "get_template",
  title: "Get a template",
  description: "Gets a template's languages, features and resources.",
  toolset: "templates",
  annotations: looks,
  input: z.object({ name: z.string().min(1).describe("Name or id") }),
  output: z.looseObject({ name: z.string() }),
  handler: async ({ client, name, signal }) => {
    const template = await client.templates.get(name, { signal });
    return { ...wireNames(template), name: template.name };
  },
});
