/** The tools, resources and prompts that the conformance tool expects of a server. It fixes their names. */
import { completable, McpServer, ResourceTemplate, type ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { requestState, withInputs } from "./input-fixtures.js";

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/** A WAV file without a sample. */
const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (said: string) => ({ type: "text" as const, text: said });
const says = (said: string) => ({ content: [text(said)] });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

export function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: "conformance", version: "1.0.0" },
    {
      capabilities: { tools: { listChanged: true }, logging: {}, resources: { subscribe: true } },
      requestState: { verify: requestState.verify },
    },
  );
  addTools(server);
  addAsking(server);
  addResources(server);
  addPrompts(server);
  withInputs(server);
  return server;
}

const contents = {
  test_simple_text: [text("This is a simple text response for testing.")],
  test_image_content: [{ type: "image" as const, data: pixel, mimeType: "image/png" }],
  test_audio_content: [{ type: "audio" as const, data: silence, mimeType: "audio/wav" }],
  test_embedded_resource: [
    {
      type: "resource" as const,
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    },
  ],
  test_multiple_content_types: [
    text("Multiple content types test:"),
    { type: "image" as const, data: pixel, mimeType: "image/png" },
    {
      type: "resource" as const,
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: '{"test":"data","value":123}',
      },
    },
  ],
};

function addTools(server: McpServer): void {
  for (const [name, content] of Object.entries(contents))
    server.registerTool(name, { description: name }, () => ({ content }));
  server.registerTool("test_error_handling", { description: "Fails" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_tool_with_progress", { description: "Progresses" }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      await pause();
    }
    return says("done");
  });
  for (const name of ["test_tool_with_logging", "test_logging_tool"])
    server.registerTool(name, { description: "Logs" }, async ({ mcpReq }) => {
      for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await mcpReq.log("info", line);
        await pause();
      }
      return says("done");
    });
  server.registerTool("test_trigger_tool_change", { description: "Changes the list" }, () => {
    server.sendToolListChanged();
    return says("changed");
  });
}

/** Tools that send requests to the client while they run, as the protocol versions with sessions allow. */
function addAsking(server: McpServer): void {
  const prompt = z.object({ prompt: z.string() });
  server.registerTool(
    "test_sampling",
    { description: "Samples", inputSchema: prompt },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: "user", content: text(prompt) }],
        maxTokens: 100,
      });
      return says(`LLM response: ${"text" in content ? content.text : ""}`);
    },
  );
  const message = z.object({ message: z.string() });
  server.registerTool(
    "test_elicitation",
    { description: "Asks", inputSchema: message },
    async ({ message }, context) => asks(context, "User response", message, userProperties),
  );
  server.registerTool("test_elicitation_sep1034_defaults", { description: "Asks with defaults" }, (context) =>
    asks(context, "Elicitation completed", "Defaults", defaultProperties),
  );
  server.registerTool("test_elicitation_sep1330_enums", { description: "Asks for choices" }, (context) =>
    asks(context, "Elicitation completed", "Choices", enumProperties),
  );
}

type Properties = Parameters<ServerContext["mcpReq"]["elicitInput"]>[0] extends infer Params
  ? Params extends { requestedSchema: { properties: infer Shape } }
    ? Shape
    : never
  : never;

async function asks({ mcpReq }: ServerContext, prefix: string, message: string, properties: Properties) {
  const { action, content } = await mcpReq.elicitInput({
    mode: "form",
    message,
    requestedSchema: { type: "object", properties, required: Object.keys(properties) },
  });
  return says(`${prefix}: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const userProperties: Properties = {
  username: { type: "string", description: "User's response" },
  email: { type: "string", description: "User's email address" },
};

const defaultProperties: Properties = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const plain = ["option1", "option2", "option3"];
const titled = ["First", "Second", "Third"].map((title, at) => ({ const: `value${at + 1}`, title }));

const enumProperties: Properties = {
  untitledSingle: { type: "string", enum: plain },
  titledSingle: { type: "string", oneOf: titled },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: plain } },
  titledMulti: { type: "array", items: { anyOf: titled } },
};

function addResources(server: McpServer): void {
  const described = (mimeType: string) => ({ description: "A fixture", mimeType });
  server.registerResource("static-text", "test://static-text", described("text/plain"), ({ href }) => ({
    contents: [
      { uri: href, mimeType: "text/plain", text: "This is the content of the static text resource." },
    ],
  }));
  server.registerResource("static-binary", "test://static-binary", described("image/png"), ({ href }) => ({
    contents: [{ uri: href, mimeType: "image/png", blob: pixel }],
  }));
  server.registerResource("watched", "test://watched-resource", described("text/plain"), ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "watched" }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, described("application/json"), ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
  for (const method of ["resources/subscribe", "resources/unsubscribe"] as const)
    server.server.setRequestHandler(method, () => ({}));
}

function addPrompts(server: McpServer): void {
  const user = <Content>(content: Content) => ({ role: "user" as const, content });
  server.registerPrompt("test_simple_prompt", { description: "Simple" }, () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  const two = z.object({
    arg1: completable(z.string(), (value) =>
      ["paris", "park", "party"].filter((name) => name.startsWith(value)),
    ),
    arg2: z.string(),
  });
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "With arguments", argsSchema: two },
    ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => ({
      messages: [
        user({
          type: "resource" as const,
          resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        }),
        user(text("Please process the embedded resource above.")),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image" }, () => ({
    messages: [
      user({ type: "image" as const, data: pixel, mimeType: "image/png" }),
      user(text("Please analyze the image above.")),
    ],
  }));
}
