import type { HostMount, PortForward } from "cloud-sandbox";
import * as z from "zod";
import type { SandboxDirectory } from "../../ownership/sandbox-directory.js";
import { textAnswer, textOutput } from "../../results/answer.js";
import { sandboxSecrets } from "../../settings.js";
import { additive, destructive, tool } from "../../tools/definition/tool.js";
import { keyOf, namespaceInput, sandboxInput } from "./names.js";

const keys = "must be an object of image, memory, cpus, volumes, ports and envs";

const volume = /^(\/[^:]*):(\/[^:]*?)(?::(ro|rw))?$/;

const aPort = "([1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])";
const portMapping = new RegExp(`^${aPort}:${aPort}$`);

const config = z.strictObject(
  {
    image: z
      .string("must be text")
      .min(1, "must not be empty")
      .default("microsandbox/python")
      .describe("microsandbox/python, microsandbox/node, or an image such as python:3.12-slim"),
    memory: z
      .int("must be whole MiB, 128 or more")
      .min(128, "must be whole MiB, 128 or more")
      .max(1_048_576, "must be at most 1048576 MiB")
      .optional()
      .describe("Memory limit in MiB"),
    cpus: z
      .int("must be a whole number, 1 or more")
      .min(1, "must be a whole number, 1 or more")
      .max(1024, "must be at most 1024")
      .optional()
      .describe("Number of CPUs"),
    volumes: z
      .array(
        z
          .string("must be text")
          .regex(volume, "must be HOST:PATH, both absolute, as in /home/me/repo:/repo:ro"),
        "must be a list of HOST:PATH",
      )
      .default([])
      .describe(
        "Directories of the server's machine to mount, each HOST:PATH, or HOST:PATH:ro to only read it. The server must allow them",
      ),
    ports: z
      .array(
        z.string("must be text").regex(portMapping, "must be HOST:PORT, each from 1 to 65535, as in 8080:80"),
        "must be a list of HOST:PORT",
      )
      .default([])
      .describe(
        "Ports of the server's machine that lead to ports of the sandbox, each HOST:PORT, as in 8080:80. Only programs on that machine reach them",
      ),
    envs: z
      .array(
        z
          .string("must be text")
          .regex(/^[A-Za-z_][A-Za-z0-9_]*=/, "must be NAME=value, the name of letters, digits and _"),
        "must be a list of NAME=value",
      )
      .default([])
      .describe("Environment variables, each NAME=value"),
  },
  keys,
);

export const sandboxStart = tool({
  name: "sandbox_start",
  title: "Start a sandbox",
  description:
    "Starts an isolated sandbox under a name, with internet access unless the server is set otherwise. A sandbox that already runs under it stays as it is, or with config is replaced. Stop it with sandbox_stop; it is also deleted 60 minutes after its last use.",
  toolset: "sandboxes",
  annotations: { ...destructive, idempotentHint: false, openWorldHint: true },
  input: z.object({
    sandbox: sandboxInput,
    namespace: namespaceInput,
    config: config.optional().describe("What the sandbox is made of"),
  }),
  output: textOutput,
  handler: async ({ sandbox, namespace, config: wanted, client, environment, report, sandboxes, signal }) => {
    const key = keyOf({ namespace, sandbox });
    if (wanted === undefined && (await sandboxes.named(key)) !== undefined)
      return textAnswer(`Sandbox ${sandbox} runs already.`);
    const { image, memory, cpus, envs, ports, volumes } = wanted ?? config.parse({});
    const { template, differences } = await client.templates.forImage(image, { signal });
    report(`Starting ${sandbox}`);
    const limits = memory === undefined && cpus === undefined ? undefined : { memoryMb: memory, vcpu: cpus };
    const env = Object.fromEntries(envs.map(nameAndValue));
    const mounts = volumes.length === 0 ? undefined : Object.fromEntries(volumes.map(pathAndMount));
    const options = { template, limits, env, mounts, secrets: sandboxSecrets(environment), signal };
    const wasRunning = await sandboxes.replace(key, () => sandboxes.createLeased(options));
    await forwardPorts(ports, key, sandboxes);
    const replaced = wasRunning ? " The earlier sandbox of this name was deleted, with its files." : "";
    const sentences = [`Sandbox ${sandbox} started.${replaced}`, ...differences];
    return textAnswer(sentences.join(" "));
  },
});

function nameAndValue(text: string): [name: string, value: string] {
  const end = text.indexOf("=");
  return [text.slice(0, end), text.slice(end + 1)];
}

function pathAndMount(text: string): [path: string, mount: HostMount] {
  const [, host = "", path = "", mode] = volume.exec(text) ?? [];
  return [path, { host, readOnly: mode === "ro" }];
}

export const sandboxStop = tool({
  name: "sandbox_stop",
  title: "Stop a sandbox",
  description: "Stops a sandbox and deletes it, with its files.",
  toolset: "sandboxes",
  annotations: { ...additive, destructiveHint: true, idempotentHint: true },
  input: z.object({ sandbox: sandboxInput, namespace: namespaceInput }),
  output: textOutput,
  handler: async ({ sandbox, namespace, sandboxes }) => {
    const wasRunning = await sandboxes.end(keyOf({ namespace, sandbox }));
    return textAnswer(`Sandbox ${sandbox} ${wasRunning ? "stopped" : "was not running"}.`);
  },
});

interface Forwarded {
  readonly sandboxId: string;
  readonly forward: PortForward;
}

/** The ports that each client has forwarded. Deleting a sandbox closes its own. */
const forwarded = new WeakMap<SandboxDirectory, Forwarded[]>();

/** Forwards ports of this machine to the sandbox of a name, each HOST:PORT. If one fails, deletes the sandbox and throws. */
async function forwardPorts(
  mappings: readonly string[],
  name: string,
  sandboxes: SandboxDirectory,
): Promise<void> {
  if (mappings.length === 0) return;
  const sandbox = await sandboxes.named(name);
  if (sandbox === undefined) return;
  const held = forwarded.get(sandboxes) ?? [];
  forwarded.set(sandboxes, held);
  await closeEnded(held, sandboxes);
  try {
    for (const mapping of mappings) {
      const [localPort, port] = mapping.split(":").map(Number) as [number, number];
      held.push({ sandboxId: sandbox.id, forward: await sandbox.ports.forward(port, { localPort }) });
    }
  } catch (error) {
    await sandboxes.end(name);
    throw error;
  }
}

/** Closes the ports of sandboxes that have ended by themselves, which nobody has tried to reach since. */
async function closeEnded(held: Forwarded[], sandboxes: SandboxDirectory): Promise<void> {
  const known = new Set(sandboxes.known().map(({ id }) => id));
  for (const each of held.splice(0)) {
    if (known.has(each.sandboxId)) held.push(each);
    else await each.forward.close();
  }
}
