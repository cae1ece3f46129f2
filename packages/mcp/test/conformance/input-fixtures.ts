/**
 * Fixtures that ask the client for input before they answer. In the protocol versions without sessions the client
 * repeats its request with the input.
 */
import { randomBytes } from "node:crypto";
import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";

export const requestState = createRequestStateCodec({ key: randomBytes(32) });

type Answer = CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;

const says = (said: string): CallToolResult => ({ content: [{ type: "text", text: said }] });
const elicit = (message: string, requestedSchema: z.ZodObject) =>
  inputRequired.elicit({ message, requestedSchema });
const sample = (said: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: said } }],
    maxTokens,
  });

const named = z.object({ name: z.string() });
const colored = z.object({ color: z.string() });
const confirmed = z.object({ ok: z.boolean() });
const inContext = z.object({ context: z.string() });

export function withInputs(server: McpServer): void {
  for (const [name, handler] of Object.entries(tools))
    server.registerTool(name, { description: name }, (context) => handler(context, server));
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Needs something" },
    ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, "user_context", inContext);
      if (given === undefined)
        return inputRequired({
          inputRequests: { user_context: elicit("What context should the prompt use?", inContext) },
        });
      return { messages: [{ role: "user", content: { type: "text", text: given.context } }] };
    },
  );
}

const tools: Record<string, (context: ServerContext, server: McpServer) => Answer> = {
  test_input_required_result_elicitation: ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, "user_name", named);
    if (given !== undefined) return says(`Hello, ${given.name}!`);
    return inputRequired({ inputRequests: { user_name: elicit("What is your name?", named) } });
  },
  test_input_required_result_sampling: ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, "capital_question");
    if (given.kind === "sampling") return says(JSON.stringify(given.result.content));
    return inputRequired({
      inputRequests: { capital_question: sample("What is the capital of France?", 100) },
    });
  },
  test_input_required_result_list_roots: ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, "client_roots");
    if (given.kind === "roots") return says(JSON.stringify(given.roots));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  test_input_required_result_request_state: confirms("state-ok"),
  test_input_required_result_tampered_state: confirms("untampered"),
  test_input_required_result_multiple_inputs: async ({ mcpReq }) => {
    const kinds = ["user_name", "greeting", "client_roots"].map(
      (key) => inputResponse(mcpReq.inputResponses, key).kind,
    );
    if (!kinds.includes("missing")) return says(kinds.join(", "));
    return inputRequired({
      inputRequests: {
        user_name: elicit("What is your name?", named),
        greeting: sample("Generate a greeting", 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await requestState.mint("asked"),
    });
  },
  test_input_required_result_multi_round: async ({ mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, "step1", named)?.name;
    const color = acceptedContent(mcpReq.inputResponses, "step2", colored)?.color;
    if (color !== undefined) return says(`${String(mcpReq.requestState())} likes ${color}`);
    const [key, request] =
      name === undefined
        ? ["step1", elicit("Step 1: What is your name?", named)]
        : ["step2", elicit("Step 2: What is your favorite color?", colored)];
    return inputRequired({
      inputRequests: { [key as string]: request as ReturnType<typeof elicit> },
      requestState: await requestState.mint(name ?? "nobody yet"),
    });
  },
  test_input_required_result_capabilities: (_, { server }) => {
    const declared = server.getClientCapabilities();
    return inputRequired({
      inputRequests: {
        ...(declared?.sampling && { greeting: sample("Generate a greeting", 50) }),
        ...(declared?.elicitation && { user_name: elicit("What is your name?", named) }),
      },
    });
  },
  test_streaming_elicitation: () =>
    inputRequired({ inputRequests: { user_name: elicit("What is your name?", named) } }),
  test_missing_capability: () =>
    inputRequired({ inputRequests: { greeting: sample("Generate a greeting", 50) } }),
};

/** Asks for a confirmation. Accepts it only together with the state that was sent with the question. */
function confirms(said: string): (context: ServerContext) => Answer {
  return async ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, "confirm", confirmed);
    if (given !== undefined && mcpReq.requestState() === said) return says(said);
    return inputRequired({
      inputRequests: { confirm: elicit("Please confirm", confirmed) },
      requestState: await requestState.mint(said),
    });
  };
}
