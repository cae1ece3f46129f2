/**
 * Builds templates. If the build takes longer than the caller waits, the tool returns the build's state, and the build
 * continues on the server.
 */
import type { SandboxClient, Template, TemplateRecord } from "cloud-sandbox";

export interface TemplateContent {
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
}: TemplateContent): Promise<Template> {
  const { Template } = await import("cloud-sandbox");
  const base = Template.from(from).env(env_vars);
  const built = commands.reduce((template, command) => template.run(command), base);
  return start_command === undefined ? built : built.startCommand(start_command);
}

export interface BuildRequest {
  readonly name: string;
  readonly update: boolean;
  /** Seconds to wait for the build. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly onLog: (line: string) => void;
}

/**
 * Builds a template and waits for it. Undefined if the build has started and continues on the server when `seconds` are
 * over. If the caller cancels, the unfinished template is deleted, unless it updates an existing template.
 */
export async function buildUntil(
  { templates }: SandboxClient,
  template: Template,
  { seconds, signal, ...options }: BuildRequest,
): Promise<TemplateRecord | undefined> {
  let hasBegun = false;
  const deadline = AbortSignal.timeout(seconds * 1000);
  try {
    return await templates.build(template, {
      ...options,
      signal: AbortSignal.any([signal, deadline]),
      onProgress: () => {
        hasBegun = true;
      },
    });
  } catch (error) {
    if (hasBegun && deadline.aborted && !signal.aborted) return undefined;
    // Delete it only after a cancellation. The record of a failed build is kept, because it says why the build failed.
    if (hasBegun && signal.aborted && !options.update)
      await templates.delete(options.name).catch(() => undefined);
    throw error;
  }
}
