#!/usr/bin/env node
import { writeFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { addServeOptions, type ServeOptions } from "./command-line/serve-options.js";
import { describeHost, examineHost } from "./doctor.js";
import { LocalControlPlaneError, NotKeptError } from "./errors/local-errors.js";
import { startLocalControlPlane } from "./local-control-plane.js";
import type { SandboxPlacement } from "./runtime/runtime-options.js";
import { version } from "./version.js";

const program = new Command("cloud-sandbox-local")
  .description(
    "A sandbox cloud on one Linux machine: the HTTP APIs of the hosted service, with real isolation and without an account.",
  )
  // Commander wraps only descriptions that have 40 columns, and long names of options leave them fewer of 80.
  .configureHelp({ minWidthToWrap: 20 })
  .configureOutput({
    outputError: (text, write) => {
      const [problem = "", ...advice] = text
        .replace(/^error: /, "")
        .trimEnd()
        .split("\n");
      write(
        `cloud-sandbox-local: ${[problem.replace(/[^.?!]$/, "$&."), ...advice, "See --help."].join(" ")}\n`,
      );
    },
  })
  .version(version);

addServeOptions(program.command("serve").description("start the control plane and serve until interrupted"))
  .addHelpText(
    "after",
    "\nExit code: 0 after a signal to stop, 1 if the server could not start, 2 after a signal to stop if some data could not be saved in --data-dir.",
  )
  .action(serve);

program
  .command("agent-image <file>")
  .description(
    'write the image with the agent, which Pods of the kubernetes runtime need, as a tar file for "docker load"; it runs on processors like this machine\'s',
  )
  .option("--name <name>", "name and tag of the image", "cloud-sandbox-agent:latest")
  .action(async (file: string, { name }: { readonly name: string }) => {
    const { agentImage } = await import("./runtime/kubernetes/agent-image.js");
    await writeFile(file, await agentImage(name));
    process.stderr.write(`The image ${name} is written to ${file}.\n`);
  });

program
  .command("doctor")
  .description(
    "report which sandbox runtimes work on this machine and how to fix the others; exit code 1 if none works",
  )
  .option("--json", "print the report as JSON", false)
  .option(
    "--trust-ca <file>",
    "PEM file with an authority, as serve takes it (repeatable)",
    (file: string, before: readonly string[] = []) => [...before, file],
  )
  .action(async ({ json, trustCa }: { readonly json: boolean; readonly trustCa?: readonly string[] }) => {
    const report = await examineHost({ ...(trustCa && { trustCa }) });
    process.stdout.write(`${json ? JSON.stringify(report) : describeHost(report)}\n`);
    process.exitCode = report.usable ? 0 : 1;
  });

program
  .command("setup")
  .argument("[template]", "code-interpreter, or desktop (for which root is needed)", "code-interpreter")
  .description(
    "install what people expect of the template code-interpreter, such as pandas and matplotlib: as root on Debian and Ubuntu, with the system's packages; else Python's packages from PyPI, for this user's sandboxes",
  )
  .action(async (template: string) => {
    const { setUp, setUpDesktop } = await import("./setup.js");
    const tell = (line: string): void => void process.stderr.write(`${line}\n`);
    if (template === "desktop") await setUpDesktop(tell);
    else if (template === "code-interpreter") await setUp(tell);
    else
      throw new InvalidArgumentError(`There is no setup of ${template}: name code-interpreter or desktop.`);
  });

/** The reason with which a start is given up. */
class StoppedBeforeStartError extends Error {}

program.parseAsync().catch((error: unknown) => {
  const isExpected =
    error instanceof LocalControlPlaneError ||
    error instanceof InvalidArgumentError ||
    error instanceof StoppedBeforeStartError;
  // Exit at once: work that is still running could otherwise keep this process alive although nobody can use it.
  end(error instanceof NotKeptError ? 2 : 1, isExpected ? error.message : `unexpected: ${String(error)}`);
});

function end(code: number, message: string): void {
  process.stderr.write(`cloud-sandbox-local: ${message}\n`, () => process.exit(code));
}

async function serve({
  apiKey,
  memoryMb,
  diskMb,
  maxProcesses,
  buildTimeout,
  keepStopped,
  egressAllowPrivate,
  egressDeny,
  egressUpstreamProxy,
  webhookAllowPrivate,
  json,
  allowedHost,
  corsOrigin,
  allowMount,
  kubeconfig,
  kubernetesNamespace: namespace,
  kubernetesImage: images,
  kubernetesAgentImage: agentImage,
  kubernetesRuntimeClass,
  kubernetesOpenNetwork: openNetwork,
  kubernetesSandboxes: sandboxes,
  kubernetesRecords: records,
  kubernetesPlacement: placementFile,
  kubernetesStartTimeout: startTimeoutSeconds,
  ...options
}: ServeOptions): Promise<void> {
  if (apiKey === "")
    throw new InvalidArgumentError(
      "--api-key is empty. Write a key, or leave --api-key out for a random one.",
    );
  const key = apiKey ?? process.env.CLOUD_SANDBOX_API_KEY;
  if (key !== undefined && key !== "" && !/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidArgumentError(
      "The API key must consist of printable ASCII characters without spaces, because it is sent in a header.",
    );
  }
  // Whatever a request has caused, the server and the sandboxes of all go on.
  process.on("unhandledRejection", (reason) => {
    process.stderr.write(
      `Unexpected, please report: ${reason instanceof Error ? reason.stack : String(reason)}\n`,
    );
  });
  const placement = placementFile === undefined ? undefined : await placementIn(placementFile, images);
  const stopped = stopSignal();
  let isStarting = true;
  const starting = new AbortController();
  void stopped.then(() => {
    if (!isStarting) return;
    const reason = new StoppedBeforeStartError("The server was told to stop before it had started.");
    starting.abort(reason);
    setTimeout(() => end(1, reason.message), startLimitMs).unref();
  });
  const controlPlane = await startLocalControlPlane({
    ...options,
    kubernetes: {
      kubeconfig,
      namespace,
      images,
      agentImage,
      openNetwork,
      sandboxes,
      records,
      placement,
      startTimeoutSeconds,
      runtimeClass: kubernetesRuntimeClass,
    },
    allowedHosts: allowedHost,
    corsOrigins: corsOrigin,
    ...(allowMount && { allowMounts: allowMount }),
    ...(key !== undefined && key !== "" && { apiKey: key }),
    limits: { memoryMb, diskMb, maxProcesses },
    buildTimeoutSeconds: buildTimeout,
    keepStoppedSeconds: keepStopped,
    egress: {
      allowPrivate: egressAllowPrivate,
      ...(egressDeny && { deny: egressDeny }),
      ...(egressUpstreamProxy && { upstreamProxy: egressUpstreamProxy }),
    },
    webhooks: { allowPrivateAddresses: webhookAllowPrivate },
    signal: starting.signal,
    log: (message) => process.stderr.write(`${message}\n`),
  });
  isStarting = false;
  const { url, runtime, isolation, internet } = controlPlane;
  process.stderr.write(`Internet access of sandboxes whose create request does not set it: ${internet}.\n`);
  if (json) {
    process.stdout.write(`${JSON.stringify({ url, api_key: controlPlane.apiKey, runtime, isolation })}\n`);
  } else {
    process.stdout.write(`Sandboxes at ${url} (${runtime}, isolation "${isolation}"). Stop with Ctrl-C.\n`);
    if ((key === undefined || key === "") && records) {
      // The logs of Pods are collected and read by more people than may read Secrets.
      process.stdout.write('API key: "api_key" in the Secret cloud-sandbox-keys.\n');
    } else if (key === undefined || key === "") {
      const made = controlPlane.apiKey;
      process.stdout.write(
        `API key: ${made}\nTo use the server in another terminal, type there:\n` +
          `  export CLOUD_SANDBOX_BASE_URL=${url} CLOUD_SANDBOX_API_KEY=${made}\n`,
      );
    }
  }
  if (options.host === "0.0.0.0" || options.host === "::") {
    process.stderr.write(
      "The server listens on all addresses: everyone who can reach this machine and has the key can use it.\n",
    );
  }
  await stopped;
  await controlPlane.close();
}

/** Reads the file of `--kubernetes-placement`. Loads what parses it only when there is one. */
async function placementIn(file: string, images: readonly string[] | undefined): Promise<SandboxPlacement> {
  const { readPlacement } = await import("./command-line/placement-file.js");
  return readPlacement(file, images);
}

/**
 * Milliseconds that a start may continue after a signal asked to stop. Only waiting for Pods can be given up, so the process exits
 * when this time is over.
 */
const startLimitMs = 5000;

/** Resolves on the first signal that asks the server to stop. A second signal of any of these kinds ends the process at once. */
function stopSignal(): Promise<void> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of signals) process.off(signal, stop);
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
