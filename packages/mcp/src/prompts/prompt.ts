/** A prompt is data: its name and title, the arguments that a person fills in, and the text that the model gets. */
import { completable } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Registration } from "../session/profile.js";
import type { Session } from "../session/session.js";

interface Argument {
  readonly description: string;
  readonly optional?: true;
  /** Suggests values when a person has typed the beginning. */
  readonly complete?: (session: Session, typed: string) => string[] | Promise<string[]>;
}

interface Prompt<Name extends string> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: Readonly<Record<Name, Argument>>;
  /** The tools that the prompt's text names. The prompt is offered only if all of them are offered. */
  readonly tools: readonly string[];
  readonly text: (args: Readonly<Partial<Record<Name, string>>>) => string;
}

export function prompt<const Name extends string>({ text, ...definition }: Prompt<Name>): Registration {
  const { name, title, description } = definition;
  return (server, session, { tools }) => {
    if (!definition.tools.every((needed) => tools.some((tool) => tool.name === needed))) return;
    const shape = Object.entries<Argument>(definition.arguments).map(([argument, details]) => [
      argument,
      argumentSchema(details, session),
    ]);
    const argsSchema = z.object(Object.fromEntries(shape) as Record<Name, z.ZodType<string | undefined>>);
    server.registerPrompt(name, { title, description, argsSchema }, (args) => ({
      description,
      messages: [
        {
          role: "user",
          content: { type: "text", text: text(args as Partial<Record<Name, string>>).trim() },
        },
      ],
    }));
  };
}

function argumentSchema({ description, optional, complete }: Argument, session: Session): z.ZodType {
  const schema = z.string().max(100_000).describe(description);
  const completed = complete ? completable(schema, (typed) => complete(session, typed)) : schema;
  return optional ? completed.optional().describe(description) : completed;
}

/** Puts a person's text into a code fence that is longer than any in the text, so that the text cannot close it. */
export function quoted(text: string, kind = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${kind}\n${text}\n${fence}`;
}

/** Completes from a fixed list. */
export function oneOf(values: readonly string[]): NonNullable<Argument["complete"]> {
  return (_, typed) => values.filter((value) => value.startsWith(typed.toLowerCase()));
}
