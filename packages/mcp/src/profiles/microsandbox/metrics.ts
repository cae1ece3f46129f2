import type { Sandbox } from "cloud-sandbox";
import * as z from "zod";
import { InvalidArgumentsError } from "../../errors/errors.js";
import { jsonAnswer } from "../../results/answer.js";
import { readOnly, tool } from "../../tools/definition/tool.js";
import { fullNameOf, sandboxInput } from "./names.js";

const metricsOutput = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  running: z.boolean(),
  cpu_usage: z.number().optional().describe("Percent"),
  memory_usage: z.number().optional().describe("MiB"),
  disk_usage: z.number().optional().describe("Bytes"),
});

export const sandboxGetMetrics = tool({
  name: "sandbox_get_metrics",
  title: "Get the metrics of sandboxes",
  description:
    "Gets the status and the CPU, memory and disk use of one sandbox, of those in a namespace, or of all. Stopped sandboxes are listed too.",
  toolset: "system",
  annotations: readOnly,
  input: z.object({
    namespace: z.string("must be text").min(1, "must not be empty").describe("Namespace; * for all"),
    sandbox: sandboxInput.optional().describe("Only the sandbox of this name"),
  }),
  output: z.looseObject({ sandboxes: z.array(metricsOutput) }),
  handler: async ({ namespace, sandbox, sandboxes, signal }) => {
    const isMeant = (key: string): boolean => {
      const name = fullNameOf(key);
      return (
        (namespace === "*" || name.namespace === namespace) &&
        (sandbox === undefined || name.sandbox === sandbox)
      );
    };
    const running = sandboxes.names().filter(isMeant);
    const ended = sandboxes.endedNames().filter(isMeant);
    if (sandbox !== undefined && running.length + ended.length === 0) {
      throw new InvalidArgumentsError(
        `There was no sandbox ${sandbox} in namespace ${namespace}. Start it with sandbox_start; namespace * without a sandbox shows all.`,
      );
    }
    const measured = await Promise.all(
      running.map(
        async (key) => (await sandboxes.useNamed(key, (held) => snapshot(key, held, signal))) ?? stopped(key),
      ),
    );
    return jsonAnswer({ sandboxes: [...measured, ...ended.map(stopped)] });
  },
});

async function snapshot(
  key: string,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<z.input<typeof metricsOutput>> {
  const { cpuPercent, disk, memory } = await sandbox.metrics.snapshot({ signal });
  const bytes = disk.usedMb === undefined ? undefined : Math.round(disk.usedMb * 2 ** 20);
  return {
    ...stopped(key),
    running: true,
    cpu_usage: cpuPercent,
    memory_usage: memory.usedMb,
    disk_usage: bytes,
  };
}

function stopped(key: string): z.input<typeof metricsOutput> {
  const { namespace, sandbox } = fullNameOf(key);
  return { name: sandbox, namespace, running: false };
}
