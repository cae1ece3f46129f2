import type { Sandbox, SandboxLimits } from "cloud-sandbox";
import type { Answer } from "../../results/answer.js";
import { textAnswer } from "../../results/text-answer.js";
import type { Environment } from "../../settings/environment.js";
import type { ToolContext } from "../../tools/definition/tool.js";
import { codemodeSettings, sandboxLimits } from "./settings.js";

/** The name of the client's only sandbox. Clients never see it. */
const name = "codemode";

/**
 * Does `work` in the client's sandbox, which the first call makes. How the sandbox differs from SANDBOX_IMAGE is said once, below
 * the text of that call.
 */
export async function inSandbox(
  context: ToolContext,
  work: (sandbox: Sandbox) => Promise<string>,
): Promise<Answer<{ result: string }>> {
  const { client, environment, report, sandboxes } = context;
  const remarks: string[] = [];
  const sandbox = await sandboxes.getOrCreate(name, async () => {
    report("Creating a sandbox");
    const { template, differences } = await client.templates.forImage(
      codemodeSettings(environment).SANDBOX_IMAGE,
    );
    remarks.push(...differences.map((difference) => `[note] ${difference}`));
    return sandboxes.createLeased({ template, internetAccess: false, limits: limitsAsked(environment) });
  });
  const text = await sandboxes.use(sandbox, work);
  return textAnswer([text, ...remarks].join("\n"));
}

/** The limits to ask for. None when the user has set none: a service with limits of its own would refuse the defaults. */
function limitsAsked(environment: Environment): SandboxLimits | undefined {
  const isSet = ["CONTAINER_MEMORY_LIMIT", "CONTAINER_CPU_LIMIT"].some(
    (name) => (environment[name]?.trim() ?? "") !== "",
  );
  return isSet ? sandboxLimits(environment) : undefined;
}
