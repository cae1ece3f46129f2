import type { Sandbox, SandboxLimits } from "cloud-sandbox";
import { createLeased, useLeased } from "../../ownership/leased-sandbox.js";
import type { Answer } from "../../results/answer.js";
import { textAnswer } from "../../results/text-answer.js";
import type { Environment } from "../../settings/environment.js";
import type { ToolContext } from "../../tools/definition/tool.js";
import { codemodeSettings, sandboxLimits } from "./settings.js";

/** The client's one sandbox; clients give it no name. */
const name = "codemode";

/**
 * Works in the client's sandbox, which the first call makes. What of it is not as SANDBOX_IMAGE says is told once, below the
 * text of that call.
 */
export async function inSandbox(
  context: ToolContext,
  work: (sandbox: Sandbox) => Promise<string>,
): Promise<Answer<{ result: string }>> {
  const { client, environment, named, report } = context;
  const remarks: string[] = [];
  const sandbox = await named.getOrCreate(name, async () => {
    report("Creating a sandbox");
    const { template, differences } = await client.templates.forImage(
      codemodeSettings(environment).SANDBOX_IMAGE,
    );
    remarks.push(...differences.map((difference) => `[note] ${difference}`));
    return createLeased(context, { template, internetAccess: false, limits: limitsAsked(environment) });
  });
  const text = await useLeased(context, name, sandbox, work);
  return textAnswer([text, ...remarks].join("\n"));
}

/** Those of the defaults that nobody has set are no reason to refuse a server that has limits of its own. */
function limitsAsked(environment: Environment): SandboxLimits | undefined {
  const isSet = ["CONTAINER_MEMORY_LIMIT", "CONTAINER_CPU_LIMIT"].some(
    (name) => (environment[name]?.trim() ?? "") !== "",
  );
  return isSet ? sandboxLimits(environment) : undefined;
}
