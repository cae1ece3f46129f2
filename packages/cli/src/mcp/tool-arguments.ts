import { CommandError } from "../errors/command-error.js";

/** Arguments of a tool, as the command line gives them. */
export interface ToolOptions {
  /** The arguments as a JSON object. */
  readonly params?: string;
  /** Single arguments, each given as `name=value`. */
  readonly param?: Readonly<Record<string, string>>;
}

/** The arguments of a call. A value of `--param` that is valid JSON is parsed, any other is text. */
export function toolArguments({ param = {}, params = "{}" }: ToolOptions): Record<string, unknown> {
  let whole: unknown;
  try {
    whole = JSON.parse(params);
  } catch (error) {
    throw new CommandError(
      "PARAMS_INVALID",
      `--params is not JSON: ${(error as Error).message}.`,
      'Give an object, as in \'{"path": "/tmp"}\'.',
    );
  }
  if (typeof whole !== "object" || whole === null || Array.isArray(whole))
    throw new CommandError(
      "PARAMS_INVALID",
      "--params is not a JSON object.",
      'Give an object, as in \'{"path": "/tmp"}\'.',
    );
  const single = Object.entries(param).map(([name, text]) => [name, parsed(text)]);
  return { ...whole, ...Object.fromEntries(single) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
