/** What servers answer against the protocol's schemas, and what clients get of it. */
import { expect, test } from "vitest";
import { repairedMessage } from "../src/transport/repaired-message.js";

const leftOut: string[] = [];
/** The result of a message with `result`. */
function repaired(result: unknown): unknown {
  leftOut.length = 0;
  const message = repairedMessage({ jsonrpc: "2.0", id: 1, result }, (what) => leftOut.push(what));
  return (message as { result: unknown }).result;
}

const inputSchema = { type: "object" };
const plain = { name: "plain", inputSchema };

test.each<[string, object, object]>([
  ["null for each optional field", { title: null, annotations: null, outputSchema: null, icons: null }, {}],
  [
    "null in an optional field",
    { annotations: { title: null, readOnlyHint: true } },
    { annotations: { readOnlyHint: true } },
  ],
  ["text for a hint", { annotations: { readOnlyHint: "yes", title: "T" } }, { annotations: { title: "T" } }],
  ["a number for a description", { description: 5 }, {}],
  [
    "an icon without a source",
    { icons: [{ src: 5 }, { src: "data:," }, {}] },
    { icons: [{ src: "data:," }] },
  ],
  ["no schema", { inputSchema: undefined }, {}],
  ["null for the schema", { inputSchema: null }, {}],
  ["a list for the schema", { inputSchema: [] }, {}],
  [
    "a schema without a type",
    { inputSchema: { properties: { a: {} } } },
    { inputSchema: { type: "object", properties: { a: {} } } },
  ],
  ["null in the schema", { inputSchema: { type: "object", properties: null, required: null } }, {}],
  [
    "null that a schema allows",
    { inputSchema: { ...inputSchema, default: null } },
    { inputSchema: { ...inputSchema, default: null } },
  ],
])("a tool with %s is listed without it", (_, odd, expected) => {
  const tools = [{ ...plain, name: "odd", ...odd }, plain];
  expect(repaired({ tools, nextCursor: null })).toEqual({
    tools: [{ name: "odd", inputSchema, ...expected }, plain],
  });
  expect(leftOut).toEqual([]);
});

test.each([
  [{ name: 5, inputSchema }],
  [{ inputSchema }],
  [null],
  ["tool"],
  [[]],
  [{ ...plain, icons: Array(100_000).fill(5) }],
])("a tool that cannot be repaired is left out and told (%#)", (odd) => {
  expect(repaired({ tools: [plain, odd, { ...plain, name: "last" }] })).toEqual({
    tools: [plain, { ...plain, name: "last" }],
  });
  expect(leftOut).toEqual([expect.stringMatching(/^tools\[1\]: /)]);
});

test("a hundred thousand odd tools take a moment", { timeout: 20_000 }, () => {
  expect(repaired({ tools: [...Array(100_000).fill(5), plain] })).toEqual({ tools: [plain] });
  expect(leftOut).toEqual([expect.stringMatching(/^tools\[0\]: .*; and 99995 more$/)]);
});

test.each<[string, object, object]>([
  [
    "prompts",
    {
      prompts: [
        { name: "p", arguments: null },
        { name: "q", arguments: [{ name: "a", required: null }, { name: 5 }] },
        {},
      ],
    },
    { prompts: [{ name: "p" }, { name: "q", arguments: [{ name: "a" }] }] },
  ],
  [
    "resources",
    { resources: [{ uri: "x:1", name: "r", size: null, mimeType: 5 }, { name: "no address" }] },
    { resources: [{ uri: "x:1", name: "r" }] },
  ],
  [
    "templates",
    { resourceTemplates: [{ uriTemplate: "x:{a}", name: "t", description: null }, {}] },
    { resourceTemplates: [{ uriTemplate: "x:{a}", name: "t" }] },
  ],
  [
    "a resource",
    { contents: [{ uri: "x:1", text: "t", mimeType: null }] },
    { contents: [{ uri: "x:1", text: "t" }] },
  ],
  [
    "a prompt",
    {
      description: null,
      messages: [{ role: "user", content: { type: "text", text: "t", annotations: null } }],
    },
    { messages: [{ role: "user", content: { type: "text", text: "t" } }] },
  ],
  [
    "a tool's result",
    { content: [{ type: "text", text: "t", _meta: null }], structuredContent: null, isError: null },
    { content: [{ type: "text", text: "t" }] },
  ],
  [
    "a tool's structured result, in which null is a value",
    { content: [], structuredContent: { found: null } },
    { content: [], structuredContent: { found: null } },
  ],
  [
    "the server's description of itself",
    {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, prompts: null },
      serverInfo: { name: "n", version: "1" },
      instructions: null,
    },
    { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "n", version: "1" } },
  ],
])("null is the same as absent in %s", (_, given, expected) => expect(repaired(given)).toEqual(expected));

test("a part of a kind that the protocol does not have is passed on as text", () => {
  const part = { type: "video", data: "x" };
  expect(repaired({ content: [part] })).toEqual({ content: [{ type: "text", text: JSON.stringify(part) }] });
});

const base64 = (bytes: readonly number[] | string): string => Buffer.from(bytes as string).toString("base64");
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const wide = Buffer.from(png, "base64");
wide.writeUInt32BE(8001, 16);

test.each([
  ["of its kind", png, "image/png", png, "image/png"],
  ["of another kind than its label says", gif, "image/png", gif, "image/gif"],
  ["without a label", gif, undefined, gif, "image/gif"],
  ["as a data URL", `data:image/gif;base64,${gif}`, "image/png", gif, "image/gif"],
  ["in lines", png.replace(/(.{20})/g, "$1\n"), "image/png", png, "image/png"],
])("an image %s is labelled by its bytes", (_, data, mimeType, expected, type) => {
  const part = { type: "image", data, mimeType };
  const image = { type: "image", data: expected, mimeType: type };
  expect(repaired({ content: [part] })).toEqual({ content: [image] });
  expect(repaired({ messages: [{ role: "user", content: part }] })).toEqual({
    messages: [{ role: "user", content: image }],
  });
});

test.each([
  ["nothing", ""],
  ["text", base64("oops")],
  ["no base64", "%%%"],
  ["a drawing", base64("<svg xmlns='http://www.w3.org/2000/svg'/>")],
  ["the beginning of an image", base64([...Buffer.from(png, "base64").subarray(0, 40)])],
  ["the signature of an image", "iVBORw0KGgo="],
  ["more pixels than models take", wide.toString("base64")],
])("%s is not passed on as an image", (_, data) => {
  const left = [
    { type: "text", text: expect.stringMatching(/^\[image \(image\/png\) of \d+ bytes is left out/) },
  ];
  expect(repaired({ content: [{ type: "image", data, mimeType: "image/png" }] })).toEqual({ content: left });
  const resource = {
    uri: "x:1",
    mimeType: "image/png",
    blob: Buffer.from(data, "base64").toString("base64"),
  };
  const file = { ...resource, mimeType: "application/octet-stream" };
  expect(repaired({ contents: [resource] })).toEqual({ contents: [file] });
  expect(repaired({ content: [{ type: "resource", resource }] })).toEqual({
    content: [{ type: "resource", resource: file }],
  });
});

test.each([
  [
    { id: 1, result: {}, error: null },
    { id: 1, result: {} },
  ],
  [
    { id: 1, result: null },
    { id: 1, result: {} },
  ],
  [
    { id: 1, result: null, error: { code: 5, message: "m" } },
    { id: 1, error: { code: 5, message: "m" } },
  ],
  [
    { id: 1, error: "m" },
    { id: 1, error: { code: -32_603, message: "m" } },
  ],
  [{ id: null, method: "m", params: null }, { method: "m" }],
])("the message %j is %j", (given, expected) =>
  expect(repairedMessage({ jsonrpc: "2.0", ...given }, () => undefined)).toEqual({
    jsonrpc: "2.0",
    ...expected,
  }),
);
