/** Other people's servers' prompts in this program's list, as `server__prompt`. */
import { completable, type McpServer, type Prompt } from "@modelcontextprotocol/server";
import * as z from "zod";
import { reader } from "../resources/reading.js";
import { untrusted } from "../results/answer.js";
import { relayedMessages } from "../results/relayed-result.js";
import type { SharedToolParts } from "../server/registered-tool.js";
import type { OtherLists } from "../servers/running-server.js";
import type { Session } from "../session/session.js";
import { type Registered, relay, suggestions } from "./relaying.js";
import { listedNames } from "./tool-names.js";

/** Lets the SDK offer prompts and completion: once a client is connected, it cannot begin to. */
export function announcePrompts(server: McpServer): void {
  const argsSchema = z.object({ name: completable(z.string(), () => []) });
  server.registerPrompt("prompts of servers that start", { argsSchema }, () => ({ messages: [] })).remove();
}

export function registerPrompts(
  server: McpServer,
  name: string,
  { completes, prompts }: OtherLists,
  { profile, session }: SharedToolParts,
): Registered[] {
  const read = reader(session, profile);
  const names = listedNames(
    name,
    prompts.map((prompt) => prompt.name),
  );
  const byName = new Map(prompts.map((prompt) => [prompt.name, prompt]));
  return [...names].flatMap(([own, listed]) => {
    const prompt = byName.get(own);
    if (prompt === undefined) return [];
    const { description, title } = prompt;
    const entry = {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      argsSchema: argumentsSchema(prompt, completes ? { session, name } : undefined),
    };
    return server.registerPrompt(listed, entry, (args, { mcpReq: { signal } }) =>
      read(listed, async (context) => {
        const params = { name: own, arguments: args as Record<string, string> };
        const result = await relay(context, name, "prompts/get", params, signal);
        return {
          ...(result.description !== undefined && { description: result.description }),
          messages: relayedMessages(result.messages, name),
          ...untrusted,
        };
      }),
    );
  });
}

/** The schema of a prompt's arguments, completed by the server if `completer` says where it is. */
function argumentsSchema(
  prompt: Prompt,
  completer: { readonly session: Session; readonly name: string } | undefined,
): z.ZodObject {
  const fields = (prompt.arguments ?? []).map(({ description = "", name, required = false }) => {
    const text = z.string().describe(description);
    const ref = { type: "ref/prompt", name: prompt.name } as const;
    const field = completer
      ? completable(text, suggestions(completer.session, completer.name, ref, name))
      : text;
    return [name, required ? field : field.optional().describe(description)];
  });
  return z.object(Object.fromEntries(fields));
}
