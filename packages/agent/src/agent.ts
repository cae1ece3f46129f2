import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { limits } from "@cloud-sandbox/protocol/limits";
import { agentEnvelope, contractRouter } from "@cloud-sandbox/server-kit";
import { type AgentContract, agentContract } from "@cloud-sandbox/server-kit/agent-contract";
import {
  contextLanguages as allContextLanguages,
  proxyEnvironment,
  proxyPorts,
} from "@cloud-sandbox/server-kit/execution";
import {
  backgroundOperations,
  cacheHandlers,
  environmentHandlers,
  metricsHandlers,
  RequestMetrics,
  sessionHandlers,
  unavailable,
} from "@cloud-sandbox/server-kit/handlers";
import { TokenVerifier } from "./access/token-verifier.js";
import type { AgentConfig, EgressConfig } from "./config/agent-config.js";
import type { DesktopParts } from "./desktop/desktop-parts.js";
import { baseEnvironment, knowsImportOption, trustedAuthorities } from "./environment/base-environment.js";
import { EnvironmentVariables } from "./environment/environment-variables.js";
import { BackgroundExecutions, mostKept } from "./execution/background/background-executions.js";
import { BackgroundRecords } from "./execution/background/background-records.js";
import { CodeRunner } from "./execution/code-runner.js";
import { Contexts } from "./execution/contexts/contexts.js";
import { EarlierContexts } from "./execution/contexts/earlier-contexts.js";
import { ReplCode } from "./execution/contexts/repl-code.js";
import { executionCache } from "./execution/kept-outcomes.js";
import { OutputFiles } from "./execution/output/output-files.js";
import { backgroundOutputLimit, ExecutionResources } from "./execution/programs/execution-resources.js";
import { ExecutionSlots } from "./execution/programs/execution-slots.js";
import { Executor } from "./execution/programs/executor.js";
import { FileService } from "./files/file-service.js";
import { ServedTree } from "./files/served-tree.js";
import type { AgentHandlers } from "./handlers/agent-handlers.js";
import { backgroundHandlers } from "./handlers/background-handlers.js";
import { desktopHandlers } from "./handlers/desktop-handlers.js";
import { executionHandlers } from "./handlers/execution-handlers.js";
import { fileHandlers } from "./handlers/file-handlers.js";
import { internalHandler, internalPath } from "./handlers/internal-handler.js";
import { killSystemProcess, processHandlers } from "./handlers/process-handlers.js";
import { programStream } from "./handlers/program-stream.js";
import { streamHandlers } from "./handlers/stream-handlers.js";
import { systemHandlers } from "./handlers/system-handlers.js";
import { InstalledPrograms } from "./machine/installed-programs.js";
import { PrivateDirectory } from "./machine/private-directory.js";
import { ResourceUsage } from "./machine/resource-usage.js";
import { PortRelay } from "./network/port-relay.js";
import { FileArchive } from "./snapshot/file-archive.js";
import { FileReader } from "./snapshot/file-reader.js";
import { HomeFiles } from "./snapshot/home-files.js";
import { KeptTerminals } from "./streaming/kept-terminals.js";
import { WebSocketUpgrader } from "./streaming/websocket-upgrader.js";

/** The display that the desktop takes if no program has it. */
const expectedDisplay = ":1";

/** The largest JSON body, in bytes. Larger files go through the upload operation, which streams. */
const bodyLimit = limits.requestBytes;

export interface Agent {
  /** Answers an HTTP request. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Answers a CONNECT request: tunnels the caller to a port inside the sandbox. */
  connect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void>;
  /** Answers a request to upgrade to a WebSocket. */
  upgrade(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /**
   * Exercises the code paths that are slow on first use (starting a program, checking a token, routing a request), so
   * that the first real request does not pay for them.
   */
  warmUp(): Promise<void>;
  /**
   * Kills all running programs and deletes the agent's temporary directory. Records of executions, outputs and variables stay
   * on disk: the next agent in this sandbox takes them over.
   */
  close(): Promise<void>;
}

/** Builds an agent from its configuration. The agent does not listen yet. */
export async function createAgent(config: AgentConfig): Promise<Agent> {
  const { limits, sandboxId, template, listen } = config;
  const temporary = config.roots.at(-1) ?? "/tmp";
  const directory = new PrivateDirectory(temporary);
  const state = new PrivateDirectory(temporary, ".cloud-sandbox-state");
  const variables = new EnvironmentVariables(state);
  const inherited = await baseEnvironment(process.env, temporary, config.ownVariables);
  const environment = { ...inherited, ...config.environment };
  const proxies = config.egress ? await proxyVariables(config.egress, environment) : {};
  const base: Record<string, string> = {
    ...trustedAuthorities(config.authorities),
    ...inherited,
    // An image's own proxy cannot be reached from here.
    ...proxies,
    ...config.environment,
    // Interpreters that start before the desktop find it too, if no program takes the display before.
    ...(config.desktop && { DISPLAY: expectedDisplay }),
  };
  const homeFiles = new HomeFiles(base.HOME ?? temporary);
  if (config.homeFiles !== undefined) homeFiles.add(config.homeFiles);
  const programs = new InstalledPrograms(base.PATH ?? "");
  const resources = new ExecutionResources({ ...config, directory, memoryMb: limits.memoryMb });
  const slots = new ExecutionSlots(config.maxExecutions);
  const running = { resources, slots, baseEnvironment: base, variables };
  const executor = new Executor(running);
  const [tokens, tree, hasDesktop] = await Promise.all([
    TokenVerifier.create(config.publicKey, sandboxId),
    ServedTree.create(config.roots),
    config.desktop ?? programs.has("Xtigervnc"),
  ]);
  const reserved = new Set<number>([
    ...Object.values(proxyPorts),
    ...("port" in listen ? [listen.port] : []),
  ]);
  const ports = new PortRelay({ tokens, reserved });
  const usage = new ResourceUsage(tree.workspace, limits.memoryMb);
  const requests = new RequestMetrics();
  const offers = ({ name }: { readonly name: string }) => config.languages?.includes(name) ?? true;

  const { workdir = tree.workspace } = config;
  const contextLanguages = allContextLanguages({
    ipython: config.ipython,
    javascriptPreparer: () => {
      const repl = new ReplCode();
      return (source) => repl.prepare(source);
    },
  });
  const ahead = (await programs.has("python3"))
    ? contextLanguages.find(({ name }) => name === "python")
    : undefined;
  const earlier = new EarlierContexts(state);
  const contexts = new Contexts({ ...running, directory, workdir, ahead, earlier });
  slots.onFree = () => renewInterpreter(slots, contexts, config.interpreterWait);
  const cache = executionCache();
  const code = new CodeRunner({ executor, contexts, contextLanguages, directory, workdir });
  const outputs = new OutputFiles(
    state,
    config.outputFileLimit,
    Math.min(config.outputLimit, backgroundOutputLimit),
  );
  const executions = new BackgroundExecutions(outputs, new BackgroundRecords(state, mostKept));
  const reloadState = async () => {
    await Promise.all([variables.restore(), executions.recover(), earlier.restore()]);
  };
  await reloadState();
  const upgrader = new WebSocketUpgrader();
  const terminals = new KeptTerminals();

  let desktop: Promise<DesktopParts> | undefined;
  const openDesktop = () => {
    const files = new FileService(tree);
    desktop ??= import("./desktop/desktop-parts.js").then(
      ({ DesktopParts }) =>
        new DesktopParts({
          ...{ programs, directory, environment: base, files, tree, recordings: temporary },
          // So that an agent that is restarted finds the desktop of the one before.
          id: config.ownsMachine ? "desktop" : randomUUID(),
        }),
    );
    return desktop;
  };

  const served: Record<string, string> = {};
  const operations = backgroundOperations(executions);
  const own = {
    ...executionHandlers({ executor, code, cache, variables, directory, programs, offers, workdir }),
    ...sessionHandlers(contexts),
    ...cacheHandlers(cache),
    ...backgroundHandlers({ executions, executor, code, directory, programs, offers, workdir }),
    ...operations,
    killExecutionById: async (call) =>
      (await killSystemProcess(call.params.process_id)) ?? operations.killExecutionById(call),
    ...environmentHandlers(variables, () => variables.save(), base),
    ...fileHandlers(new FileService(tree)),
    ...metricsHandlers({ slots, cache, usage, requests }),
    ...processHandlers(),
    ...(hasDesktop && desktopHandlers(openDesktop)),
    ...streamHandlers({
      upgrader,
      terminals,
      executor,
      code,
      directory,
      programs,
      offers,
      workdir,
      base,
      variables,
      tree,
    }),
    ...systemHandlers({
      sandboxId,
      template,
      limits,
      listen,
      slots,
      contexts,
      programs,
      offers,
      usage,
      upgrader,
      served,
    }),
  } satisfies AgentHandlers;
  for (const { operationId, method, path } of agentContract.operations) {
    if (operationId in own) served[operationId] = `${method} ${path}`;
  }

  const contract = {
    contract: agentContract,
    handlers: own,
    unavailable,
    envelope: agentEnvelope,
    bodyLimit,
  };
  const router = contractRouter<AgentContract, true>({
    ...contract,
    authenticate: ({ header }) => tokens.verify(header("authorization")),
    onRequest: (event) => requests.record(event),
    onError: (error, { requestId }) => console.error(`${requestId}:`, error),
  });
  const directories = [...new Set([...config.roots, base.HOME ?? temporary])];
  const internal = internalHandler({
    tokens,
    ownsMachine: config.ownsMachine,
    streamProgram: programStream({ code, programs, offers, workdir, bodyLimit }),
    isIdle: () => slots.active === 0,
    archive: new FileArchive(directories, directory, config.mounts, homeFiles),
    files: new FileReader({ directories, mounts: config.mounts, temporary }),
    reloadState,
  });
  return {
    handle: (request, response) =>
      request.url?.startsWith(internalPath) ? internal(request, response) : router.handle(request, response),
    connect: (request, client, head) => ports.connect(request, client, head),
    upgrade: (request, response) => upgrader.upgrade(request, response, router),
    async warmUp() {
      // A caller is here already, whose calls load what they need. In a burst others wait for the processor.
      if (slots.counts.total > 0) {
        await sleep(settleMs, undefined, { ref: false });
        if (slots.isQuiet) await contexts.prepare(config.interpreterWait - settleMs);
        return;
      }
      // Warm up with a request for the unknown language "none": it passes routing, body parsing and validation, and is
      // refused just before a program would start.
      const body = Buffer.from(JSON.stringify({ code: "", language: "none" }));
      const headers = { "content-length": String(body.length) };
      const refused = Object.assign(Readable.from([body]), { method: "POST", url: "/execute", headers });
      const open = contractRouter<AgentContract, true>({ ...contract, authenticate: () => true });
      const neverAborted = () => new AbortController().signal;
      const started = executor.warmUp().then(() => contexts.prepare());
      const answered = open.answer(refused, neverAborted);
      await Promise.allSettled([started, tokens.warmUp(), answered]);
    },
    async close() {
      ports.close();
      upgrader.close();
      const desktopEnd = desktop?.then((parts) => parts.close());
      await Promise.all([terminals.close(), executor.close(), contexts.close(), desktopEnd]);
      await directory.remove();
    },
  };
}

/** The variables with which programs use the egress proxy. `environment`: the others that they start with. */
async function proxyVariables(
  { nodePreload, importsPreload }: EgressConfig,
  environment: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  if (nodePreload === undefined) return proxyEnvironment({});
  return proxyEnvironment({
    nodePreload,
    importsPreload: importsPreload ?? (await knowsImportOption(environment)),
  });
}

/** Milliseconds after which an interpreter is started ahead in a machine that a caller was waiting for. */
const settleMs = 10_000;
/** Milliseconds to wait after an execution ended before an interpreter is started ahead. */
const renewDelay = 3;

/**
 * Starts an interpreter ahead, after `renewDelay` and only while no caller waits for an execution: starting an
 * interpreter takes as much CPU as running a program and would slow that execution down.
 */
function renewInterpreter(slots: ExecutionSlots, contexts: Contexts, wait: number): void {
  setTimeout(() => {
    if (slots.isQuiet) void contexts.renew(wait);
  }, renewDelay).unref();
}
