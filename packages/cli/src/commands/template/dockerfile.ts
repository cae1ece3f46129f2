import { Template } from "cloud-sandbox";
import {
  type Copy,
  DockerfileParser,
  type Instruction,
  type JSONInstruction,
  type PropertyInstruction,
} from "dockerfile-ast";
import { CommandError } from "../../errors/command-error.js";

/**
 * Reads the Dockerfile instructions that templates have: FROM, RUN, COPY, ENV, WORKDIR, USER and CMD. Ignores LABEL, EXPOSE,
 * MAINTAINER and STOPSIGNAL, which do not change the template. Refuses all others: without them, the template would be a
 * different one.
 */
export function dockerfileTemplate(text: string, path: string): Template {
  let template: Template | undefined;
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const keyword = instruction.getKeyword();
    const line = instruction.getRange().start.line + 1;
    const refuse = (what: string, hint?: string): never => {
      throw new CommandError("DEFINITION_INVALID", `${path}, line ${line}: ${what}`, hint);
    };
    if (keyword === "FROM") {
      if (template !== undefined) refuse("a template has one stage, and this is a second FROM.");
      const words = instruction.getArguments().map(String);
      template = Template.from(words[0] ?? refuse("FROM names no template or image."));
      continue;
    }
    if (passedOver.has(keyword)) continue;
    const step = steps[keyword];
    if (step === undefined)
      return refuse(
        `${keyword} is not supported.`,
        `Supported are ${["FROM", ...Object.keys(steps)].join(", ")}.`,
      );
    if (template === undefined) return refuse(`${keyword} comes before FROM.`);
    try {
      template = step(template, instruction);
    } catch (error) {
      if (error instanceof CommandError) throw error;
      refuse((error as { summary?: string }).summary ?? (error as Error).message);
    }
  }
  if (template !== undefined) return template;
  throw new CommandError(
    "DEFINITION_INVALID",
    `${path} has no FROM.`,
    "Begin it with: FROM code-interpreter",
  );
}

const passedOver: ReadonlySet<string> = new Set(["LABEL", "EXPOSE", "MAINTAINER", "STOPSIGNAL"]);

type Step = (template: Template, instruction: Instruction) => Template;

const steps: Readonly<Record<string, Step>> = {
  RUN: (template, instruction) => {
    const { flags, words } = parts(instruction as JSONInstruction);
    if (flags.length > 0) throw new Error(`RUN with ${flags[0]?.name} is not supported.`);
    const line = words?.map(quoted).join(" ") ?? instruction.getArgumentsContent() ?? "";
    return template.run(line);
  },
  COPY: (template, instruction) => {
    const copy = instruction as Copy;
    const { flags, words } = parts(copy);
    if (copy.getHeredocs().length > 0) throw new Error("COPY with a heredoc is not supported; copy a file.");
    const options: { owner?: string; permissions?: string } = {};
    for (const { name, value } of flags) {
      if (name === "--chown") options.owner = value;
      else if (name === "--chmod") options.permissions = value;
      else throw new Error(`COPY with ${name} is not supported.`);
    }
    const all = words ?? copy.getArguments().map(String);
    const destination = all.pop();
    if (destination === undefined || all.length === 0)
      throw new Error("COPY needs a source and a destination.");
    return template.copy(all, destination, options);
  },
  ENV: (template, instruction) => {
    const properties = (instruction as PropertyInstruction).getProperties();
    return template.env(
      Object.fromEntries(properties.map((each) => [each.getName(), each.getValue() ?? ""])),
    );
  },
  WORKDIR: (template, instruction) => template.workdir(instruction.getArgumentsContent() ?? ""),
  USER: (template, instruction) => template.user(instruction.getArgumentsContent() ?? ""),
  CMD: (template, instruction) => {
    const { words } = parts(instruction as JSONInstruction);
    return template.startCommand(words?.map(quoted).join(" ") ?? instruction.getArgumentsContent() ?? "");
  },
};

interface Parts {
  readonly flags: ReadonlyArray<{ name: string; value: string }>;
  /** The words of an instruction in the form `["a", "b"]`. Undefined in the other form. */
  readonly words: string[] | undefined;
}

function parts(instruction: JSONInstruction): Parts {
  const flags = instruction
    .getFlags()
    .map((flag) => ({ name: `--${flag.getName()}`, value: flag.getValue() ?? "" }));
  const text = (instruction.getArgumentsContent() ?? "").replace(/^(--\S+\s+)*/, "");
  return { flags, words: text.startsWith("[") ? listed(text) : undefined };
}

/** The words of a JSON list. Undefined for other text, such as a shell command that begins with a bracket. */
function listed(text: string): string[] | undefined {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    return undefined;
  }
}

/** Quotes a word for bash. */
function quoted(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
