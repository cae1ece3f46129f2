#!/usr/bin/env node
import { writeFile } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { describeHost, examineHost } from "./doctor.js";
import {
  AuditLogError,
  CannotLeaveRunningError,
  DataDirectoryError,
  InvalidEgressError,
  InvalidMountDirectoryError,
  InvalidOriginError,
  InvalidPublicUrlError,
  NotKeptError,
  PortUnavailableError,
  RuntimeUnavailableError,
} from "./errors/local-errors.js";
import { startLocalControlPlane } from "./local-control-plane.js";
import type { KubernetesOptions } from "./runtime/runtime-options.js";
import { isolationLevels } from "./runtime/sandbox-runtime.js";
import { dockerImageVariable, type RuntimeName, runtimeNames, runtimeVariable } from "./runtimes.js";
import { defaultMemoryOvercommit } from "./sandboxes/memory-budget.js";
import { largestPool, poolVariable } from "./sandboxes/pool-size.js";
import { version } from "./version.js";

const program = new Command("cloud-sandbox-local")
  .description(
    "A sandbox cloud on one Linux machine: the HTTP APIs of the hosted service, with real isolation and without an account.",
  )
  .version(version);

program
  .command("serve")
  .description("start the control plane and serve until interrupted")
  .option("--host <address>", "address to listen on", "127.0.0.1")
  .option(
    "--allowed-host <name...>",
    "further host names under which callers may reach a server on loopback",
    [],
  )
  .option(
    "--public-url <url>",
    "address under which others reach this server through a proxy, as in https://sandboxes.example",
  )
  .option(
    "--cors-origin <origin>",
    "let pages of that origin call the server from a browser, as in https://app.example (repeatable)",
    collect,
    [],
  )
  .option("--port <number>", "port to listen on; 0 takes any free one", wholeNumber(0, 65_535), 0)
  .option(
    "--api-key <key>",
    "key that callers present; all users of this machine can read it here, so prefer the variable CLOUD_SANDBOX_API_KEY; default: a random one, printed",
  )
  .option(
    "--data-dir <directory>",
    "directory that keeps sandboxes over a restart; default: none, nothing is kept",
  )
  .option(
    "--allow-mount <directory>",
    "let sandboxes mount this directory and all below it; needs the bubblewrap runtime (repeatable; default: those of CLOUD_SANDBOX_ALLOW_MOUNT, separated by colons)",
    collect,
  )
  .addOption(
    new Option("--runtime <name>", `what starts the sandboxes: auto, or one of ${runtimeNames.join(", ")}`)
      .env(runtimeVariable)
      .default("auto")
      .argParser(oneOf("auto", ...runtimeNames)),
  )
  .addOption(
    new Option(
      "--docker-image <name>",
      "an image of the docker runtime's sandboxes, which is a template of that name; the first one is also that of base and code-interpreter; auto then takes docker (repeatable; default: python:3.12-slim)",
    )
      .env(dockerImageVariable)
      .argParser<readonly string[]>(collect),
  )
  .option(
    "--docker-runtime <name>",
    "runtime of the Docker daemon that starts the docker runtime's sandboxes, as runsc for isolation gvisor; auto then takes docker; default: CLOUD_SANDBOX_DOCKER_RUNTIME, else the daemon's own",
  )
  .option("--kubeconfig <file>", "how the kubernetes runtime reaches its cluster; default: as kubectl does")
  .option("--kubernetes-namespace <name>", "namespace of the Pods; default: that of the kubeconfig's context")
  .option(
    "--kubernetes-image <name>",
    "an image of the kubernetes runtime's sandboxes, as --docker-image is (repeatable; default: python:3.12-slim)",
    collect,
  )
  .option(
    "--kubernetes-agent-image <name>",
    'image with the agent, which "cloud-sandbox-local agent-image" writes; default: cloud-sandbox-agent:latest',
  )
  .option(
    "--kubernetes-runtime-class <name=level>",
    "RuntimeClass of the Pods and the isolation level that it gives, as in gvisor=gvisor; default: the cluster's own, container",
    runtimeClass,
  )
  .option(
    "--kubernetes-wait <seconds>",
    "seconds that a Pod waits when the connection to its server is cut or the server has ended; default: 60",
    wholeNumber(1, 86_400),
  )
  .option(
    "--leave-running",
    "when stopped, leave sandboxes running for the next server with the same --data-dir; only with the runtime kubernetes",
    false,
  )
  .option(
    "--kubernetes-open-network",
    "start sandboxes although no NetworkPolicy keeps their code from the cluster's network; limits of internet access do not hold then",
    false,
  )
  .addOption(
    new Option("--pool <count>", "machines kept booted for new sandboxes")
      .env(poolVariable)
      .default(4)
      .argParser(wholeNumber(0, largestPool)),
  )
  .option(
    "--max-sandboxes <count>",
    "sandboxes at a time; default: by memory, at most 256",
    wholeNumber(1, 10_000),
  )
  .option(
    "--memory-overcommit <factor>",
    "memory and files that all sandboxes together may use, in multiples of this machine's memory; with 1, none is promised twice",
    factor(0.01, 1000),
    defaultMemoryOvercommit,
  )
  .option(
    "--rate-limit <count>",
    "requests that a caller may send in a minute",
    wholeNumber(1, 1_000_000_000),
    1_000_000,
  )
  .option("--memory-mb <MiB>", "memory of each sandbox", wholeNumber(128, 1_048_576), 1024)
  .option("--disk-mb <MiB>", "disk of each sandbox", wholeNumber(16, 1_048_576), 1024)
  .option(
    "--build-timeout <seconds>",
    "seconds that the build of a template may take",
    wholeNumber(1, 86_400),
    1800,
  )
  .option("--max-processes <count>", "processes and threads of each sandbox", wholeNumber(32, 65_536), 256)
  .option(
    "--internet <setting>",
    "internet access of sandboxes whose create request does not set it: on, off, or allow=DESTINATIONS with commas between them; default: CLOUD_SANDBOX_INTERNET, else on",
  )
  .option(
    "--egress-allow-private <destination>",
    "let sandboxes with internet access reach a destination that is not on the public internet, as in 10.0.0.5:8080 (repeatable)",
    collect,
    [],
  )
  .option(
    "--egress-deny <destination>",
    'let no sandbox reach a destination, as in *:25 or 198.51.100.0/24 (repeatable; default: "*:25", mail)',
    collect,
  )
  .option(
    "--egress-upstream-proxy <url>",
    "HTTP proxy that this machine needs to reach the internet, as in http://proxy.internal:3128",
  )
  .option(
    "--webhook-allow-private",
    "send webhooks to private addresses too, such as this machine's own",
    false,
  )
  .option(
    "--without-system-call-filter",
    "start sandboxes even on a CPU for which there is no system call filter: their code can then make any system call",
    false,
  )
  .option(
    "--root-inside",
    "let code be root in its sandbox, so that it can install packages and become other users; needs root and bubblewrap",
    false,
  )
  .option(
    "--audit-log <file>",
    "append to a file, as lines of JSON, who changed or ran what; default: none; at 64 MiB it is renamed to FILE.1",
  )
  .option("--metrics", "measure the server for Prometheus: GET /metrics, with the server's own key", false)
  .option("--json", "print one line of JSON when ready: url, api_key, runtime, isolation", false)
  .addHelpText(
    "after",
    "\nExit code: 0 after a signal to stop, 1 if the server could not start, 2 after a signal to stop if some data could not be saved in --data-dir.",
  )
  .action(serve);

program
  .command("agent-image <file>")
  .description(
    "write the image with the agent, which Pods of the kubernetes runtime need, for docker load or a registry; it is for this machine's processor",
  )
  .option("--name <name>", "name and tag of the image", "cloud-sandbox-agent:latest")
  .action(async (file: string, { name }: { readonly name: string }) => {
    const { agentImage } = await import("./runtime/kubernetes/agent-image.js");
    await writeFile(file, await agentImage(name));
    process.stderr.write(`${file} has the image ${name}.\n`);
  });

program
  .command("doctor")
  .description(
    "report which sandbox runtimes work on this machine and how to fix the others; exit code 1 if none works",
  )
  .option("--json", "print the report as JSON", false)
  .action(async ({ json }: { json: boolean }) => {
    const report = await examineHost();
    process.stdout.write(`${json ? JSON.stringify(report) : describeHost(report)}\n`);
    process.exitCode = report.usable ? 0 : 1;
  });

program.parseAsync().catch((error: unknown) => {
  const isExpected =
    error instanceof RuntimeUnavailableError ||
    error instanceof PortUnavailableError ||
    error instanceof CannotLeaveRunningError ||
    error instanceof DataDirectoryError ||
    error instanceof AuditLogError ||
    error instanceof NotKeptError ||
    error instanceof InvalidEgressError ||
    error instanceof InvalidMountDirectoryError ||
    error instanceof InvalidOriginError ||
    error instanceof InvalidPublicUrlError ||
    error instanceof InvalidArgumentError;
  // Exit at once: work that is still running could otherwise keep this process alive although nobody can use it.
  end(error instanceof NotKeptError ? 2 : 1, isExpected ? error.message : `unexpected: ${String(error)}`);
});

function end(code: number, message: string): void {
  process.stderr.write(`cloud-sandbox-local: ${message}\n`, () => process.exit(code));
}

interface ServeOptions {
  readonly kubeconfig?: string;
  readonly kubernetesNamespace?: string;
  readonly kubernetesImage?: readonly string[];
  readonly kubernetesAgentImage?: string;
  readonly kubernetesOpenNetwork: boolean;
  readonly kubernetesWait?: number;
  readonly leaveRunning: boolean;
  readonly kubernetesRuntimeClass?: KubernetesOptions["runtimeClass"];
  readonly runtime: "auto" | RuntimeName;
  readonly dockerImage?: readonly string[];
  readonly dockerRuntime?: string;
  readonly host: string;
  readonly allowedHost: readonly string[];
  readonly corsOrigin: readonly string[];
  readonly allowMount?: readonly string[];
  readonly port: number;
  readonly apiKey?: string;
  readonly dataDir?: string;
  readonly pool: number;
  readonly maxSandboxes?: number;
  readonly memoryOvercommit: number;
  readonly rateLimit: number;
  readonly buildTimeout: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  readonly maxProcesses: number;
  readonly internet?: string;
  readonly egressAllowPrivate: readonly string[];
  readonly egressDeny?: readonly string[];
  readonly egressUpstreamProxy?: string;
  readonly webhookAllowPrivate: boolean;
  readonly withoutSystemCallFilter: boolean;
  readonly rootInside: boolean;
  readonly publicUrl?: string;
  readonly auditLog?: string;
  readonly metrics: boolean;
  readonly json: boolean;
}

async function serve({
  apiKey,
  memoryMb,
  diskMb,
  maxProcesses,
  buildTimeout,
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
  kubernetesWait: waitSeconds,
  ...options
}: ServeOptions): Promise<void> {
  const key = apiKey ?? process.env.CLOUD_SANDBOX_API_KEY;
  if (key !== undefined && key !== "" && !/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidArgumentError(
      "The API key must consist of printable ASCII characters without spaces, because it is sent in a header.",
    );
  }
  const stopped = stopSignal();
  let isStarting = true;
  void stopped.then(() => {
    const giveUp = (): void => end(1, "The server was told to stop before it had started.");
    if (isStarting) setTimeout(giveUp, startLimitMs).unref();
  });
  const controlPlane = await startLocalControlPlane({
    ...options,
    kubernetes: {
      kubeconfig,
      namespace,
      images,
      agentImage,
      openNetwork,
      waitSeconds,
      runtimeClass: kubernetesRuntimeClass,
    },
    allowedHosts: allowedHost,
    corsOrigins: corsOrigin,
    ...(allowMount && { allowMounts: allowMount }),
    ...(key !== undefined && key !== "" && { apiKey: key }),
    limits: { memoryMb, diskMb, maxProcesses },
    buildTimeoutSeconds: buildTimeout,
    egress: {
      allowPrivate: egressAllowPrivate,
      ...(egressDeny && { deny: egressDeny }),
      ...(egressUpstreamProxy && { upstreamProxy: egressUpstreamProxy }),
    },
    webhooks: { allowPrivateAddresses: webhookAllowPrivate },
    log: (message) => process.stderr.write(`${message}\n`),
  });
  isStarting = false;
  const { url, runtime, isolation, internet } = controlPlane;
  process.stderr.write(`Internet access of sandboxes whose create request does not set it: ${internet}.\n`);
  if (json) {
    process.stdout.write(`${JSON.stringify({ url, api_key: controlPlane.apiKey, runtime, isolation })}\n`);
  } else {
    process.stdout.write(`Sandboxes at ${url} (${runtime}, isolation "${isolation}"). Stop with Ctrl-C.\n`);
    if (key === undefined || key === "") {
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

/**
 * Milliseconds that a start may continue after a signal asked to stop. A start cannot be cancelled half-way, so the
 * process exits when this time is over.
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

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}

function factor(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Write a number from ${least} to ${most}.`);
  };
}

function runtimeClass(text: string): KubernetesOptions["runtimeClass"] {
  const [name = "", named] = text.split("=");
  const level = isolationLevels.find((known) => known === named);
  if (name !== "" && level) return { name, level };
  throw new InvalidArgumentError(
    `Write NAME=LEVEL; the levels are ${isolationLevels.join(", ")}. The cluster is believed that the class isolates so.`,
  );
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function oneOf(...choices: readonly string[]): (text: string) => string {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new InvalidArgumentError(`Write one of: ${choices.join(", ")}.`);
  };
}
