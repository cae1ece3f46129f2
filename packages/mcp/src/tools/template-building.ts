/** Builds templates. A caller whose patience ends gets the state of the build, which goes on. */
import type { SandboxClient, Template, TemplateRecord } from "cloud-sandbox";

export interface TemplateWish {
  readonly from: string;
  readonly commands: readonly string[];
  readonly env_vars?: Readonly<Record<string, string>> | undefined;
  readonly start_command?: string | undefined;
}

export async function definitionOf({
  from,
  commands,
  env_vars = {},
  start_command,
}: TemplateWish): Promise<Template> {
  const { Template } = await import("cloud-sandbox");
  const base = Template.from(from).env(env_vars);
  const built = commands.reduce((template, command) => template.run(command), base);
  return start_command === undefined ? built : built.startCommand(start_command);
}

export interface BuildWish {
  readonly name: string;
  readonly update: boolean;
  /** How long to wait. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly onLog: (line: string) => void;
}

/**
 * Undefined when the build has begun and goes on at the server. What the caller cancels is deleted half-built, unless it takes
 * the place of a template that was there before.
 */
export async function buildUntil(
  { templates }: SandboxClient,
  template: Template,
  { seconds, signal, ...options }: BuildWish,
): Promise<TemplateRecord | undefined> {
  let hasBegun = false;
  const patience = AbortSignal.timeout(seconds * 1000);
  try {
    return await templates.build(template, {
      ...options,
      signal: AbortSignal.any([signal, patience]),
      onProgress: () => {
        hasBegun = true;
      },
    });
  } catch (error) {
    if (hasBegun && patience.aborted && !signal.aborted) return undefined;
    // A build that failed by itself is kept: its record says why.
    if (hasBegun && signal.aborted && !options.update)
      await templates.delete(options.name).catch(() => undefined);
    throw error;
  }
}
