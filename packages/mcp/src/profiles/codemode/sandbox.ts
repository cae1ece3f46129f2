import type { Sandbox, SandboxLimits } from "cloud-sandbox";
import type { Answer } from "../../results/answer.js";
import { textAnswer } from "../../results/text-answer.js";
import type { Environment } from "../../settings/environment.js";
import type { ToolContext } from "../../tools/definition/tool.js";
import { codemodeSettings, sandboxLimits } from "./settings.js";

/** The name of the client's only sandbox. Clients never see it. */
const name = "codemode";

/**
 * Runs `work` in the client's sandbox, which the first call creates. The text of that call also says, once, how the
 * sandbox differs from SANDBOX_IMAGE.
 */
export async function inSandbox(
  context: ToolContext,
  work: (sandbox: Sandbox) => Promise<string>,
): Promise<Answer<{ result: string }>> {
  const { client, environment, report, sandboxes } = context;
  const notes: string[] = [];
  const sandbox = await sandboxes.getOrCreate(name, async () => {
    report("Creating a sandbox");
    const { template, differences } = await client.templates.forImage(
      codemodeSettings(environment).SANDBOX_IMAGE,
    );
    notes.push(...differences.map((difference) => `[note] ${difference}`));
    return sandboxes.createLeased({ template, internetAccess: false, limits: requestedLimits(environment) });
  });
  const text = await sandboxes.use(sandbox, work);
  return textAnswer([text, ...notes].join("\n"));
}

/**
 * The limits for the sandbox. Undefined if the user set none: a service with its own limits would refuse mcp-codemode's
 * defaults.
 */
function requestedLimits(environment: Environment): SandboxLimits | undefined {
  const isSet = ["CONTAINER_MEMORY_LIMIT", "CONTAINER_CPU_LIMIT"].some(
    (name) => (environment[name]?.trim() ?? "") !== "",
  );
  return isSet ? sandboxLimits(environment) : undefined;
}
