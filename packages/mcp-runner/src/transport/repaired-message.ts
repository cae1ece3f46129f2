/**
 * Repairs what servers answer against the protocol's schemas. MCP clients check an answer as a whole: for one tool whose title is
 * null they show none of the server's tools. And model APIs refuse the whole conversation for an image that is none.
 */

import { fromBase64, imageType, usableImage } from "@cloud-sandbox/server-kit/image-type";
import { specTypeSchemas } from "@modelcontextprotocol/client";

type Fields = Record<string, unknown>;

/** The lists of results whose entries are repaired, and the schemas of these results. */
const schemas = {
  content: specTypeSchemas.CallToolResult,
  contents: specTypeSchemas.ReadResourceResult,
  messages: specTypeSchemas.GetPromptResult,
  tools: specTypeSchemas.ListToolsResult,
  prompts: specTypeSchemas.ListPromptsResult,
  resources: specTypeSchemas.ListResourcesResult,
  resourceTemplates: specTypeSchemas.ListResourceTemplatesResult,
};
type List = keyof typeof schemas;

/**
 * A message as clients accept it: without null in place of optional fields, and with each image labelled by its bytes. Entries
 * of lists that cannot be repaired are left out; `onLeftOut` is told which and why, once for a message.
 */
export function repairedMessage(message: unknown, onLeftOut: (what: string) => void): unknown {
  if (!isFields(message)) return message;
  const { error, result, ...envelope } = message;
  if (envelope.params === null) delete envelope.params;
  if ("method" in envelope && envelope.id === null) delete envelope.id;
  if (error !== undefined && error !== null) return { ...envelope, error: repairedError(error) };
  if (!("result" in message)) return envelope;
  return { ...envelope, result: isFields(result) ? repairedResult(result, onLeftOut) : (result ?? {}) };
}

function repairedError(received: unknown): Fields {
  const { code, message, ...rest } = isFields(received) ? received : { message: received };
  return {
    ...rest,
    code: Number.isInteger(code) ? code : -32_603,
    message: typeof message === "string" ? message : (JSON.stringify(message) ?? "no reason given"),
  };
}

function repairedResult(received: Fields, onLeftOut: (what: string) => void): Fields {
  const result = withoutNulls(received, nested) as Fields;
  const list = (Object.keys(schemas) as List[]).find((name) => Array.isArray(result[name]));
  if (list === undefined) return result;
  const entries = (result[list] as unknown[]).map(usual[list] ?? repairedImage);
  const allows = (entry: unknown) => schemas[list]["~standard"].validate({ [list]: [entry] }).issues ?? [];
  const leftOut: string[] = [];
  result[list] = entries.flatMap((entry, index) => {
    const repaired = withoutInvalid(entry, allows);
    if ("entry" in repaired) return [repaired.entry];
    if (list === "content") return [{ type: "text", text: JSON.stringify(entry) }];
    leftOut.push(`${list}[${index}]: ${repaired.why}`);
    return [];
  });
  const more = leftOut.length > mostNamed ? [`and ${leftOut.length - mostNamed} more`] : [];
  if (leftOut.length > 0) onLeftOut([...leftOut.slice(0, mostNamed), ...more].join("; ").slice(0, 1000));
  return result;
}

/** Most entries that are named as left out. */
const mostNamed = 5;

/** Repairs that are made before the schema is applied, for lists that contain more than images. */
const usual: { readonly [Name in List]?: (entry: unknown) => unknown } = {
  messages: (entry) => (isFields(entry) ? { ...entry, content: repairedImage(entry.content) } : entry),
  tools: withObjectSchema,
};

interface Issue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** Most rounds, and most parts of an entry that are removed in one: a hostile entry may have millions that are wrong. */
const mostRounds = 8;
const mostRemoved = 50;

/** The entry without its invalid parts, as few of them as possible; or why all of it is invalid. */
function withoutInvalid(
  received: unknown,
  issuesOf: (entry: unknown) => readonly Issue[],
): { readonly entry: unknown } | { readonly why: string } {
  let entry = received;
  for (let round = 0; ; round += 1) {
    const issues = issuesOf(entry);
    const [first] = issues;
    if (first === undefined) return { entry };
    // From the last one on, so that the places in lists of those before it stay.
    for (const issue of [...issues].reverse()) {
      // The first two names are those of the list and of the entry.
      const path = longestExisting(entry, (issue.path ?? []).slice(2).map(keyOf));
      if (path.length === 0 || issues.length > mostRemoved || round === mostRounds)
        return { why: `${issue.path?.slice(2).map(keyOf).join(".") ?? ""} ${issue.message}`.trim() };
      entry = without(entry, path);
    }
  }
}

const keyOf = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === "object" ? part.key : part);

/** The part of `path` that leads to a value. */
function longestExisting(value: unknown, path: readonly string[]): readonly string[] {
  let at = value;
  for (const [index, key] of path.entries()) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return path.slice(0, index);
    at = Reflect.get(at, key);
  }
  return path;
}

function without(value: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inner = rest.length > 0 ? [without(Reflect.get(value, key), rest)] : [];
  if (Array.isArray(value)) return value.toSpliced(Number(key), 1, ...inner);
  const { [key]: _, ...others } = value as Fields;
  return inner.length > 0 ? { ...others, [key]: inner[0] } : others;
}

/** Fields whose values are anything, null too. */
const free = new Set(["_meta", "inputSchema", "outputSchema", "structuredContent", "experimental"]);

/** How deep the protocol's own fields are nested in a result. */
const nested = 8;

/** Many libraries write null for each optional field that is absent. */
function withoutNulls(value: unknown, depth: number): unknown {
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((each) => withoutNulls(each, depth - 1));
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    kept.map(([key, each]) => [key, free.has(key) ? each : withoutNulls(each, depth - 1)]),
  );
}

/** Servers leave out the schema of a tool without arguments, or the schema's type. */
function withObjectSchema(tool: unknown): unknown {
  if (!isFields(tool)) return tool;
  const { inputSchema } = tool;
  return { ...tool, inputSchema: { ...(isFields(inputSchema) && inputSchema), type: "object" } };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A part of a result. An image gets the label that its bytes have; what is none becomes a text that says so. A resource that is
 * labelled as an image gets a label, too: clients show it as one.
 */
function repairedImage(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  const { blob, data, mimeType, resource, type } = part as Fields;
  if (type === "resource") return { ...part, resource: repairedImage(resource) };
  if (type === "image" && typeof data === "string") {
    const bytes = fromBase64(data);
    const found = imageType(bytes);
    if (found !== undefined) return { ...part, data: bytes.toString("base64"), mimeType: found };
    const label = typeof mimeType === "string" ? `image (${mimeType.slice(0, 100)})` : "image";
    return {
      type: "text",
      text: `[${label} of ${bytes.length} bytes is left out: it is not ${usableImage}]`,
    };
  }
  if (typeof blob !== "string" || typeof mimeType !== "string" || !isShown(mimeType)) return part;
  return { ...part, mimeType: imageType(fromBase64(blob)) ?? "application/octet-stream" };
}

const isShown = (mimeType: string): boolean => /^image\/(png|jpe?g|gif|webp)\b/i.test(mimeType);
