import { type Command, InvalidArgumentError, Option } from "commander";
import { defaultKeepStoppedSeconds, defaultMaxSnapshots, defaultMaxStopped } from "../local-defaults.js";
import {
  type KubernetesOptions,
  kubernetesSandboxes,
  longestStartSeconds,
} from "../runtime/runtime-options.js";
import { isolationLevels } from "../runtime/sandbox-runtime.js";
import { type RuntimeName, runtimeNames, runtimeVariable } from "../runtimes.js";
import { defaultMemoryOvercommit } from "../sandboxes/memory-budget.js";
import { largestPool, poolVariable } from "../sandboxes/pool-size.js";

/** The command line of `serve`, as commander reads it. */
export interface ServeOptions {
  readonly kubeconfig?: string;
  readonly kubernetesNamespace?: string;
  readonly kubernetesImage?: readonly string[];
  readonly kubernetesAgentImage?: string;
  readonly kubernetesOpenNetwork: boolean;
  readonly kubernetesSandboxes?: KubernetesOptions["sandboxes"];
  readonly kubernetesRecords: boolean;
  readonly leaveRunning: boolean;
  readonly kubernetesRuntimeClass?: KubernetesOptions["runtimeClass"];
  readonly kubernetesPlacement?: string;
  readonly kubernetesStartTimeout?: number;
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
  readonly maxStopped: number;
  readonly maxSnapshots: number;
  readonly keepStopped: number;
  readonly memoryOvercommit: number;
  readonly rateLimit: number;
  readonly buildTimeout: number;
  readonly homeFiles?: string;
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
  readonly previews?: "public" | "private";
  readonly auditLog?: string;
  readonly metrics: boolean;
  readonly json: boolean;
}

export function addServeOptions(command: Command): Command {
  return command
    .optionsGroup("Server:")
    .option("--port <number>", "port to listen on; 0 takes any free one", wholeNumber(0, 65_535), 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--api-key <key>",
      "key that callers present; all users of this machine can read it here, so prefer the variable CLOUD_SANDBOX_API_KEY; default: a random one, printed",
    )
    .option("--json", "print one line of JSON when ready: url, api_key, runtime, isolation", false)
    .optionsGroup("Reached from elsewhere:")
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
      "--previews <public|private>",
      "who may open what listens on ports of sandboxes: whoever knows an address, or whoever has a link that was made with a key; default: public",
      oneOf("public", "private"),
    )
    .option(
      "--cors-origin <origin>",
      "let pages of that origin call the server from a browser, as in https://app.example (repeatable)",
      collect,
      [],
    )
    .optionsGroup("Kept over a restart:")
    .option(
      "--data-dir <directory>",
      "directory that keeps sandboxes over a restart; default: none, nothing is kept",
    )
    .option(
      "--leave-running",
      "when stopped, leave sandboxes running for the next server with the same --data-dir; only with the runtimes docker and kubernetes",
      false,
    )
    .optionsGroup("Runtime:")
    .addOption(
      new Option("--runtime <name>", `what starts the sandboxes: auto, or one of ${runtimeNames.join(", ")}`)
        .env(runtimeVariable)
        .default("auto")
        .argParser(oneOf("auto", ...runtimeNames)),
    )
    .option(
      "--docker-image <name>",
      "an image of the docker runtime's sandboxes, which is a template of that name; the first one is also that of base and code-interpreter; auto then takes docker (repeatable; default: CLOUD_SANDBOX_DOCKER_IMAGE, names with commas between them, else python:3.12-slim)",
      collect,
    )
    .option(
      "--docker-runtime <name>",
      "runtime of the Docker daemon that starts the docker runtime's sandboxes, as runsc for isolation gvisor; auto then takes docker; default: CLOUD_SANDBOX_DOCKER_RUNTIME, else the daemon's own",
    )
    .optionsGroup("Each sandbox:")
    .option("--memory-mb <MiB>", "memory of each sandbox", wholeNumber(128, 1_048_576), 1024)
    .option("--disk-mb <MiB>", "disk of each sandbox", wholeNumber(16, 1_048_576), 1024)
    .option("--max-processes <count>", "processes and threads of each sandbox", wholeNumber(32, 65_536), 256)
    .option(
      "--home-files <directory>",
      "files that each home directory begins with, such as .npmrc and .config/pip/pip.conf; code can read them, so no passwords; default: CLOUD_SANDBOX_HOME_FILES, else none",
    )
    .option(
      "--allow-mount <directory>",
      "let sandboxes mount this directory and all below it; needs the bubblewrap runtime, or docker in a server that root started (repeatable; default: those of CLOUD_SANDBOX_ALLOW_MOUNT, separated by colons)",
      collect,
    )
    .option(
      "--root-inside",
      "let code be root in its sandbox, so that it can install packages and become other users; needs root and bubblewrap",
      false,
    )
    .option(
      "--without-system-call-filter",
      "start sandboxes even on a CPU for which there is no system call filter: their code can then make any system call",
      false,
    )
    .optionsGroup("All sandboxes:")
    .addOption(
      new Option(
        "--pool <count>",
        "machines kept booted for new sandboxes; 0: nor do interpreters wait for one-shot programs",
      )
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
      "--max-stopped <count>",
      "stopped sandboxes of an API key at a time; beyond, a stop is refused",
      wholeNumber(1, 100_000),
      defaultMaxStopped,
    )
    .option(
      "--max-snapshots <count>",
      "snapshots of an API key; beyond, the next is refused",
      wholeNumber(1, 100_000),
      defaultMaxSnapshots,
    )
    .option(
      "--keep-stopped <seconds>",
      "time after which a sandbox that sleeps is deleted, unless its deadline deletes it anyway",
      wholeNumber(1, 315_360_000),
      defaultKeepStoppedSeconds,
    )
    .option(
      "--memory-overcommit <factor>",
      "memory and files that all sandboxes together may use, in multiples of this machine's memory; with 1, none is promised twice; not with kubernetes, whose Pods have other memory",
      factor(0.01, 1000),
      defaultMemoryOvercommit,
    )
    .option(
      "--rate-limit <count>",
      "requests that a caller may send in a minute",
      wholeNumber(1, 1_000_000_000),
      1_000_000,
    )
    .option(
      "--build-timeout <seconds>",
      "seconds that the build of a template may take",
      wholeNumber(1, 86_400),
      1800,
    )
    .optionsGroup("Network:")
    .option(
      "--internet <setting>",
      "internet access of sandboxes whose create request does not set it: on, off, or allow=DESTINATIONS with commas between them; default: CLOUD_SANDBOX_INTERNET, else on",
    )
    .option(
      "--egress-allow-private <destination>",
      "let sandboxes with internet access reach a destination that is not on the public internet, as in 10.0.0.5:8080, or 127.0.0.1:5432, which they know as host.docker.internal:5432 (repeatable)",
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
      "HTTP proxy that this machine needs to reach the internet, as in http://user:password@proxy.corp:3128; default: CLOUD_SANDBOX_UPSTREAM_PROXY, which no list of processes shows",
    )
    .option(
      "--trust-ca <file>",
      "PEM file with an authority whose certificates programs in sandboxes trust, beside those that this machine's programs trust (repeatable)",
      collect,
    )
    .option(
      "--secrets-key-file <file>",
      "file with a key of 32 bytes that seals secrets in the data directory; default: a restart loses their values",
    )
    .option(
      "--webhook-allow-private",
      "send webhooks to private addresses too, such as this machine's own",
      false,
    )
    .optionsGroup("Observation:")
    .option(
      "--audit-log <file>",
      "append to a file, as lines of JSON, who changed or ran what; default: none; at 64 MiB it is renamed to FILE.1",
    )
    .option("--metrics", "measure the server for Prometheus: GET /metrics, with the server's own key", false)
    .optionsGroup("Kubernetes:")
    .option("--kubeconfig <file>", "how the kubernetes runtime reaches its cluster; default: as kubectl does")
    .option(
      "--kubernetes-namespace <name>",
      "namespace of the Pods; default: that of the kubeconfig's context, or of the server's own Pod",
    )
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
      "--kubernetes-placement <file>",
      "YAML or JSON with nodeSelector, tolerations and priorityClassName of the Pods, and under templates what is different for a template; default: none",
    )
    .option(
      "--kubernetes-start-timeout <seconds>",
      "seconds that a Pod may take until its agent answers, with the download of its images, at most 540; default: 120",
      wholeNumber(1, longestStartSeconds),
    )
    .option(
      "--kubernetes-runtime-class <name=level>",
      "RuntimeClass of the Pods and the isolation level that it gives, as in gvisor=gvisor; default: the cluster's own, container",
      runtimeClass,
    )
    .option(
      "--kubernetes-records",
      "keep sandboxes, names and keys in objects of the cluster, not in --data-dir; any number of servers then act as one",
      false,
    )
    .option(
      "--kubernetes-sandboxes <kind>",
      "what a sandbox is in the cluster: pods, which the server makes, or agent-sandbox, a Sandbox of the API agents.x-k8s.io, whose controller makes the Pod; default: pods",
      oneOf(...kubernetesSandboxes),
    )
    .option(
      "--kubernetes-open-network",
      "start sandboxes although no NetworkPolicy keeps their code from the cluster's network; limits of internet access do not hold then",
      false,
    );
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
    `Write NAME=LEVEL; the levels are ${isolationLevels.join(", ")}. The server does not check that the class isolates so well.`,
  );
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function oneOf<Choice extends string>(...choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    throw new InvalidArgumentError(`Write one of: ${choices.join(", ")}.`);
  };
}
