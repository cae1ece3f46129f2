#!/usr/bin/env node
import { Command, InvalidArgumentError, Option } from "commander";
import { describeHost, examineHost } from "./doctor.js";
import {
  DataDirectoryError,
  InvalidEgressError,
  InvalidOriginError,
  NotKeptError,
  PortUnavailableError,
  RuntimeUnavailableError,
} from "./errors/local-errors.js";
import { startLocalControlPlane } from "./local-control-plane.js";
import { type RuntimeName, runtimeNames } from "./runtimes.js";
import { defaultMemoryOvercommit } from "./sandboxes/memory-budget.js";
import { largestPool, poolVariable } from "./sandboxes/pool-size.js";
import { version } from "./version.js";

const program = new Command("cloud-sandbox-local")
  .description(
    "The sandbox cloud on one Linux machine: the same HTTP APIs, with real isolation and no account.",
  )
  .version(version);

program
  .command("serve")
  .description("start the control plane and serve until interrupted")
  .option("--host <address>", "address to listen on", "127.0.0.1")
  .option("--allowed-host <name...>", "further names that callers may address it by on loopback", [])
  .option(
    "--cors-origin <origin>",
    "let pages of that origin call it from a browser, as in https://app.example (repeatable)",
    collect,
    [],
  )
  .option("--port <number>", "port to listen on; 0 takes any free one", wholeNumber(0, 65_535), 0)
  .option(
    "--api-key <key>",
    "key that callers present; all users of this machine can read it here, so prefer the variable CLOUD_SANDBOX_API_KEY; default: a random one, printed",
  )
  .option("--data-dir <directory>", "where sandboxes are kept over a restart; without it, nothing is")
  .option(
    "--runtime <name>",
    `what starts the sandboxes: auto, the first that can be used here, or one of ${runtimeNames.join(", ")}`,
    oneOf("auto", ...runtimeNames),
    "auto",
  )
  .addOption(
    new Option("--pool <count>", "machines kept booted for sandboxes to come")
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
    "what sandboxes may use together, memory and files, in multiples of this machine's memory; 1 promises nothing twice",
    factor(0.01, 1000),
    defaultMemoryOvercommit,
  )
  .option(
    "--rate-limit <count>",
    "requests of a caller in a minute",
    wholeNumber(1, 1_000_000_000),
    1_000_000,
  )
  .option("--memory-mb <MiB>", "memory of each sandbox", wholeNumber(128, 1_048_576), 1024)
  .option("--disk-mb <MiB>", "disk of each sandbox", wholeNumber(16, 1_048_576), 1024)
  .option("--build-timeout <seconds>", "time for the build of a template", wholeNumber(1, 86_400), 1800)
  .option("--max-processes <count>", "processes and threads of each sandbox", wholeNumber(32, 65_536), 256)
  .option(
    "--internet <setting>",
    "internet access of sandboxes whose create says nothing of it: on, off, or allow=DESTINATIONS with commas between them; default: CLOUD_SANDBOX_INTERNET, else on",
  )
  .option(
    "--egress-allow-private <destination>",
    "let sandboxes with internet access reach it although it is not of the public internet, as in 10.0.0.5:8080 (repeatable)",
    collect,
    [],
  )
  .option(
    "--egress-deny <destination>",
    'let no sandbox reach it, as in *:25 or 198.51.100.0/24 (repeatable; default: "*:25", mail)',
    collect,
  )
  .option(
    "--egress-upstream-proxy <url>",
    "HTTP proxy through which alone this machine reaches the internet, as in http://proxy.internal:3128",
  )
  .option(
    "--webhook-allow-private",
    "report ends of asynchronous executions to private addresses too, such as this machine's",
    false,
  )
  .option(
    "--without-system-call-filter",
    "start sandboxes also on a CPU that there is no system call filter for: code in them then reaches all of the kernel",
    false,
  )
  .option("--json", "print one line of JSON when ready: url, api_key, runtime, isolation", false)
  .addHelpText(
    "after",
    "\nExit code: 0 when it was asked to stop, 1 when it could not start, 2 when it was asked to stop and not all could be kept in --data-dir.",
  )
  .action(serve);

program
  .command("doctor")
  .description(
    "say what this machine can isolate, and what would mend what is missing; exit code 1 when it is nothing",
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
    error instanceof DataDirectoryError ||
    error instanceof NotKeptError ||
    error instanceof InvalidEgressError ||
    error instanceof InvalidOriginError ||
    error instanceof InvalidArgumentError;
  // Exit at once: work that is still running could otherwise keep this process alive although nobody can use it.
  end(error instanceof NotKeptError ? 2 : 1, isExpected ? error.message : `unexpected: ${String(error)}`);
});

function end(code: number, message: string): void {
  process.stderr.write(`cloud-sandbox-local: ${message}\n`, () => process.exit(code));
}

interface ServeOptions {
  readonly runtime: "auto" | RuntimeName;
  readonly host: string;
  readonly allowedHost: readonly string[];
  readonly corsOrigin: readonly string[];
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
  ...options
}: ServeOptions): Promise<void> {
  const key = apiKey ?? process.env.CLOUD_SANDBOX_API_KEY;
  if (key !== undefined && key !== "" && !/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidArgumentError(
      "The API key must be of printable ASCII characters without spaces, since it is sent in a header.",
    );
  }
  const stopped = stopSignal();
  let isStarting = true;
  void stopped.then(() => {
    const giveUp = (): void => end(1, "It was asked to stop before it had started.");
    if (isStarting) setTimeout(giveUp, startLimitMs).unref();
  });
  const controlPlane = await startLocalControlPlane({
    ...options,
    allowedHosts: allowedHost,
    corsOrigins: corsOrigin,
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
  process.stderr.write(`Internet access of sandboxes whose create says nothing of it: ${internet}.\n`);
  if (json) {
    process.stdout.write(`${JSON.stringify({ url, api_key: controlPlane.apiKey, runtime, isolation })}\n`);
  } else {
    process.stdout.write(`Sandboxes at ${url} (${runtime}, isolation "${isolation}"). Stop with Ctrl-C.\n`);
    if (key === undefined || key === "") process.stdout.write(`API key: ${controlPlane.apiKey}\n`);
  }
  if (options.host === "0.0.0.0" || options.host === "::") {
    process.stderr.write(
      "Every machine that reaches this one can use it with the key: it listens on all addresses.\n",
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

/** Resolves on the first of the signals that ask a server to stop. A second one, of any kind, ends the process at once. */
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
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

function factor(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function oneOf(...choices: readonly string[]): (text: string) => string {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new InvalidArgumentError(`It must be one of: ${choices.join(", ")}.`);
  };
}
