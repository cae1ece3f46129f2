/** The result of another MCP server's tool: passed on, but cut to a limit, and with links that this server can read. */
import type { CallToolResult, PromptMessage, ReadResourceResult } from "@modelcontextprotocol/server";
import { untrusted } from "./answer.js";
import { cutMiddle, jsonBytes } from "./output-limit.js";

type Content = CallToolResult["content"][number];
type ResourceContents = ReadResourceResult["contents"][number];

/** Most bytes of all texts of a result, as they are written in JSON; of its structured result, and of all that describes its parts. */
const textBudget = 100_000;
/** Most characters of all base64 of a result: models take about 5 MB. */
const dataBudget = 4_000_000;
const mostParts = 200;

export interface Relayed {
  readonly server: string;
  /** Whether clients expect a structured result, because the tool has a schema for it. */
  readonly isStructured: boolean;
}

export function relayedResult(result: CallToolResult, { isStructured, server }: Relayed): CallToolResult {
  const { structuredContent: structure, _meta } = result;
  const bytes = structure === undefined ? 0 : bytesOf(structure);
  const isTooLarge = bytes > textBudget;
  const content = relayedContent(result.content, server);
  const meta = _meta !== undefined && bytesOf(_meta) <= textBudget ? _meta : undefined;
  const base = { _meta: { ...meta, ...untrusted._meta }, ...(result.isError === true && { isError: true }) };
  if (!isTooLarge)
    return { ...base, content, ...(structure !== undefined && { structuredContent: structure }) };
  const note = `The structured result has ${bytes} bytes, more than the ${textBudget} that are passed on: ask for less.`;
  if (isStructured) return { ...base, isError: true, content: [textOf(note)] };
  return { ...base, content: [...content, textOf(note)] };
}

/** The messages of another server's prompt, cut to the same limits. */
export function relayedMessages(messages: readonly PromptMessage[], server: string): PromptMessage[] {
  const content = relayedContent(
    messages.map((message) => message.content),
    server,
  );
  return content.map((part, index) => ({ role: messages[index]?.role ?? "user", content: part }));
}

/** Shows the content of another server's resource. Its text may be as long as data: not every resource is for models. */
export function relayedContents(contents: readonly ResourceContents[], server: string): ResourceContents[] {
  const parts = relayedContent(
    contents.map((resource) => ({ type: "resource", resource })),
    server,
    dataBudget,
  );
  return parts.map((part, index) =>
    part.type === "resource"
      ? part.resource
      : { uri: contents[index]?.uri ?? "", text: part.type === "text" ? part.text : "" },
  );
}

/** The address under which this server reads a resource of another one. */
export function relayedUri(server: string, uri: string): string {
  return `mcp-server://${server}/${encodeURIComponent(uri)}`;
}

/** The same for a URI template: its expressions stay as they are. */
export function relayedTemplate(server: string, template: string): string {
  const parts = template.split(/(\{[^}]*\})/);
  const encoded = parts.map((part, index) => (index % 2 === 1 ? part : encodeURIComponent(part)));
  return `mcp-server://${server}/${encoded.join("")}`;
}

function relayedContent(parts: readonly Content[], server: string, mostText = textBudget): Content[] {
  let [text, data, notes] = [mostText, dataBudget, textBudget];
  const cut = (whole: string): string => {
    const shown = cutMiddle(whole, Math.max(text, 0));
    text -= jsonBytes(shown.text, mostText);
    return shown.text;
  };
  const content = parts.slice(0, mostParts).map((part): Content => {
    const bytes = bytesOf(withoutBody(part));
    if (bytes > notes) return textOf(`[${part.type} with ${bytes} bytes of names and notes is left out]`);
    notes -= bytes;
    if (part.type === "text") return { ...part, text: cut(part.text) };
    if (part.type === "resource_link") return { ...part, uri: relayedUri(server, part.uri) };
    const base64 =
      part.type !== "resource" ? part.data : "blob" in part.resource ? part.resource.blob : undefined;
    if (part.type === "resource" && base64 === undefined && "text" in part.resource)
      return { ...part, resource: { ...part.resource, text: cut(part.resource.text) } };
    const length = base64?.length ?? 0;
    if (length > data)
      return textOf(`[${part.type} of ${length} characters is left out: ask for a smaller one]`);
    data -= length;
    return part;
  });
  const left = parts.length - content.length;
  return left > 0 ? [...content, textOf(`[${left} more parts are left out]`)] : content;
}

/** A part without its text or data. */
function withoutBody(part: Content): object {
  if (part.type === "text") return { ...part, text: "" };
  if (part.type === "image" || part.type === "audio") return { ...part, data: "" };
  if (part.type !== "resource") return part;
  const body = "blob" in part.resource ? { blob: "" } : { text: "" };
  return { ...part, resource: { ...part.resource, ...body } };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function textOf(text: string): Content {
  return { type: "text", text };
}
