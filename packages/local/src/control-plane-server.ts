import type { Server } from "node:http";
import { availableParallelism } from "node:os";
import { Readable } from "node:stream";
import { AgentCalls } from "./agents/agent-calls.js";
import { AgentConnections } from "./agents/agent-connection.js";
import { agentPath } from "./agents/agent-target.js";
import { ownAuthorities } from "./authorities/own-authorities.js";
import { TemplateCatalogue } from "./catalogue/template-catalogue.js";
import type { UsableRuntime } from "./chosen-runtime.js";
import { controlPlaneApi, RateLimiter } from "./control-plane/control-plane-api.js";
import { MetricsStreams } from "./control-plane/metrics-stream.js";
import { auditTo, serverMetricsOf } from "./control-plane/optional-parts.js";
import type { MeasuredParts } from "./control-plane/server-metrics.js";
import { egressGateway, internetSetting } from "./egress/egress-options.js";
import { keptAuthority } from "./egress/secrets/kept-authority.js";
import { StoredSecrets } from "./egress/secrets/stored-secrets.js";
import { NotKeptError } from "./errors/local-errors.js";
import { ExecutionEvents } from "./events/execution-events.js";
import { AgentGateway } from "./gateway/agent-gateway.js";
import { CallerAddresses } from "./gateway/caller-addresses.js";
import { ConnectionBudget, RequestCallers } from "./gateway/connection-budget.js";
import { watchExecutions } from "./gateway/execution-requests.js";
import { createGatewayServer, listen, PublicAddress, requireFreePort } from "./gateway/gateway-server.js";
import { OpenCalls } from "./gateway/open-calls.js";
import { PreviewGateway } from "./gateway/preview-gateway.js";
import { CrossOriginAccess, HostGuard, KeyGuard } from "./gateway/request-guards.js";
import { routeRequests } from "./gateway/request-routing.js";
import { SandboxLinks } from "./gateway/sandbox-links.js";
import { SandboxVisits } from "./gateway/sandbox-visits.js";
import type { LocalControlPlane, LocalControlPlaneOptions } from "./local-control-plane-options.js";
import {
  defaultHost,
  defaultKeepStoppedSeconds,
  defaultMaxSandboxes,
  defaultMaxSnapshots,
  defaultMaxStopped,
  defaultRateLimit,
  machineLimits,
} from "./local-defaults.js";
import { holdingProcess } from "./runtime/host/unref-child.js";
import type { SandboxRuntime } from "./runtime/sandbox-runtime.js";
import { Activity, MachineSupply } from "./sandboxes/machine-supply.js";
import { defaultMemoryOvercommit, MemoryBudget } from "./sandboxes/memory-budget.js";
import { OneShotPrograms } from "./sandboxes/one-shot-programs.js";
import { poolSize } from "./sandboxes/pool-size.js";
import { ProgramCapacity, ProgramQueue } from "./sandboxes/program-queue.js";
import { SandboxFleet } from "./sandboxes/sandbox-fleet.js";
import { withoutFiles } from "./sandboxes/sandbox-record.js";
import { SandboxRegistry } from "./sandboxes/sandbox-registry.js";
import { SandboxSlots } from "./sandboxes/sandbox-slots.js";
import { SandboxFiles } from "./saved/sandbox-files.js";
import { openSnapshots } from "./saved/snapshots.js";
import { Sealer } from "./store/sealer.js";
import { ServerDirectories } from "./store/server-directories.js";
import { withStoreErrors } from "./store/storage-problem.js";
import { openStore, type Store } from "./store/store.js";
import { VolumeRepository } from "./store/volume-repository.js";
import { serverTemplates } from "./templates/server-templates.js";
import { AccountKey, KeyCooldowns, KeyRing } from "./tokens/key-ring.js";
import { persistentApiKey, persistentTokenIssuer } from "./tokens/token-issuer.js";
import { version } from "./version.js";
import { HostDirectories } from "./volumes/host-directories.js";
import { Volumes } from "./volumes/volumes.js";
import { ExecutionFollower } from "./webhooks/execution-follower.js";
import { Webhooks } from "./webhooks/webhooks.js";

/** Serves a control plane on the port of the options. */
export async function serveOnPort(
  options: LocalControlPlaneOptions,
  runtime: SandboxRuntime,
  report: UsableRuntime,
): Promise<LocalControlPlane> {
  const { host = defaultHost, port = 0 } = options;
  // Check the port before the data directory is read, which takes longer, so that a port in use is reported at once.
  await requireFreePort(host, port);
  const store = await openStore(options.dataDir);
  try {
    const open = (server: Server): Promise<string> => listen(server, host, port);
    return await serve(options, runtime, report, store, open);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** How long a stream counts as a request in flight, in milliseconds. Programs need the CPU while they start, and may run for hours. */
const streamBeginningMs = 500;

/** Describes the internet access of sandboxes for people, as the options set it. */
export const internetText = ({ internet }: LocalControlPlaneOptions): string =>
  internetSetting(internet).text;

/** Makes the parts of a control plane, and serves them. */
export async function serve(
  options: LocalControlPlaneOptions,
  runtime: SandboxRuntime,
  { isolation, disks, isElsewhere = false }: UsableRuntime,
  store: Store,
  /** Lets callers reach the server. Resolves with its base URL for callers on this machine. */
  open: (server: Server) => Promise<string>,
): Promise<LocalControlPlane> {
  const measured: MeasuredParts = {
    pools: () => machines.waiting,
    sandboxes: () => registry.list(),
    waiting: () => queue.waiting,
    waitingForStart: () => fleet.waker.waiting,
    ready: () => runtime.expectedPrograms ?? 0,
  };
  const serverMetrics = options.metrics ? await serverMetricsOf(measured) : undefined;
  const { secretsKeyFile, dataDir } = options;
  const sealer = secretsKeyFile === undefined ? undefined : Sealer.fromFile(secretsKeyFile, dataDir);
  const egress = egressGateway(
    options.egress,
    (decision) => serverMetrics?.noteEgress(decision),
    () => ownAuthorities(options.trustCa).pem,
    sealer && (await withStoreErrors(store, () => keptAuthority(store.settings, sealer))),
    (id, telling) => registry.tell(id, telling),
  );
  const internet = internetSetting(options.internet);
  const pool = poolSize(options.pool);
  const [apiKey, tokens] = await withStoreErrors(store, async () => [
    options.apiKey ?? (await persistentApiKey(store.settings)),
    await persistentTokenIssuer(store.settings),
  ]);
  const owner = store.directory === undefined ? undefined : await tokens.keyName();
  const keys = new KeyRing({
    ownKey: new AccountKey(apiKey),
    repository: () => store.apiKeys(),
    writes: store.writes,
  });
  const log = options.log ?? (() => undefined);
  const limits = machineLimits(options.limits);
  const publicAddress = options.publicUrl === undefined ? undefined : new PublicAddress(options.publicUrl);
  const crossOrigin = new CrossOriginAccess(options.corsOrigins ?? []);
  const audit =
    options.auditLog === undefined
      ? undefined
      : await auditTo(options.auditLog, keys, tokens.tokenOwners, log);
  const server = createGatewayServer();
  if (options.holdsProcess === false) server.unref().on("connection", (connection) => connection.unref());
  const templates = await TemplateCatalogue.open(limits, runtime.images);
  const activity = new Activity();
  const connections = new AgentConnections(log);
  const agents = new AgentCalls(tokens, connections);
  const storedSecrets: StoredSecrets = new StoredSecrets({
    store,
    sealer,
    egress,
    sandboxes: () => registry.list(),
  });
  const registry: SandboxRegistry = new SandboxRegistry(
    store.sandboxes,
    store.writes,
    store.events,
    sealer,
    storedSecrets,
  );
  const directories = new ServerDirectories(store.directory);
  const keepsFiles = store.directory !== undefined || !store.isKept;
  const snapshots = await openSnapshots({
    ...{ store, directories, lack: keepsFiles ? undefined : withoutFiles },
    runtime: runtime.name,
    mostOfKey: options.maxSnapshots ?? defaultMaxSnapshots,
  });
  const budget = new MemoryBudget({
    overcommit: isElsewhere
      ? Number.POSITIVE_INFINITY
      : (options.memoryOvercommit ?? defaultMemoryOvercommit),
    disks,
  });
  const { layers, uploads, builds, imports } = await serverTemplates({
    ...{ catalogue: templates, runtime, tokens, agents, egress, budget, store, directories },
    users: () => [...registry.list(), ...snapshots.list()],
    timeoutSeconds: options.buildTimeoutSeconds ?? 1800,
  });
  const volumes = new Volumes({
    directory: () => directories.kept("volumes"),
    copiesDirectory: () => directories.kept("copies"),
    repository: store.directory === undefined ? undefined : new VolumeRepository(await store.database()),
    lack: runtime.withoutVolumes,
    withoutDirectories: runtime.withoutDirectories,
    directories: await HostDirectories.of(runtime, options.allowMounts, store.directory),
    usersOf: (id) => registry.usersOf(id),
  });
  const machines = new MachineSupply({
    runtime,
    tokens,
    agents,
    layers,
    volumes,
    egress,
    activity,
    budget,
    owner,
    isElsewhere,
    priorityClass: (keyId) => keys.priorityClass(keyId),
    poolSize: pool,
    defaultTemplate: templates.list()[0],
    measureBoot: serverMetrics && ((boot) => serverMetrics.boot(boot)),
    log,
  });
  const slots = new SandboxSlots(
    options.maxSandboxes ?? defaultMaxSandboxes(),
    {
      existing: (keyId) => registry.countAwake(keyId),
      failed: (keyId) => registry.countFailed(keyId),
      stopped: (keyId) => registry.countStopped(keyId),
    },
    (keyId) => keys.maxSandboxes(keyId),
    options.maxStopped ?? defaultMaxStopped,
  );
  const cooldowns = new KeyCooldowns();
  const fleet = new SandboxFleet({
    ...{ registry, machines, agents, layers, templates, snapshots, egress, storedSecrets, volumes },
    files: new SandboxFiles(() => directories.kept("files"), agents),
    isolation,
    isElsewhere,
    slots,
    cooldowns,
    isKept: store.isKept,
    keepsFiles,
    withoutPause: runtime.withoutPause,
    keepStoppedSeconds: options.keepStoppedSeconds ?? defaultKeepStoppedSeconds,
    hasMemory: (wanted) => budget.hasRoom(wanted),
    onSleep: serverMetrics && ((reason) => serverMetrics.noteSleep(reason)),
    measureWake: serverMetrics && ((wake) => serverMetrics.wake(wake)),
    leavesRunning: options.leaveRunning ?? false,
    // A leader that takes over waits for no machine: one on a node that was lost would keep all others waiting.
    adoptsLater: store.directory === undefined && store.isKept,
    log,
  });
  await withStoreErrors(store, async () => {
    if (store.isKept) await keys.restore();
    await storedSecrets.restore();
    builds.restore();
    await fleet.restore();
    if (store.directory !== undefined) {
      await snapshots.restore();
      await layers.collect();
      await volumes.restore();
    }
  });
  const queue = new ProgramQueue(
    2 * availableParallelism(),
    new ProgramCapacity(slots, budget, () => keys.isShared),
  );
  const calls = { fleet, agents, egress, queue, cooldowns };
  const programs = new OneShotPrograms({ ...calls, runtime, isolation, isElsewhere, log });
  const addresses = new CallerAddresses({
    url: () => url,
    publicAddress,
    hasSeveral: options.host === "0.0.0.0" || options.host === "::" || !!options.kubernetes?.records,
  });
  const gateway = new AgentGateway({
    previewUrl: (id, host) => addresses.previews(id, host).preview_path_template,
    connections,
    find: (id) => fleet.get(id),
    settled: (id) => fleet.settled(id),
    visits: new SandboxVisits(fleet, tokens.tokenOwners),
    onAnswer: (...answer) => executionEvents.answered(...answer),
  });
  const follower = new ExecutionFollower(async (id, path, signal) => {
    const { token } = await tokens.issue(id);
    return gateway.send(id, { method: "GET", path, headers: { authorization: `Bearer ${token}` }, signal });
  });
  const { events } = store;
  const { tokenOwners } = tokens;
  const keyOf = (id: string): string | undefined => registry.keyOf(id);
  const executionEvents = new ExecutionEvents({ events, follower, tokenOwners, keyOf });
  const webhooks = new Webhooks({
    store,
    options: options.webhooks ?? {},
    send: (id, request) => gateway.sendForCaller(id, request),
    keyOf,
    follower,
    isUsable: (keyId) => keys.isUsable(keyId),
    log,
  });
  const arePrivate = options.previews === "private";
  const openCalls = new OpenCalls();
  const links = new SandboxLinks({
    ...{ openCalls, agents: gateway },
    secret: () => tokens.linkSecret(),
    issueToken: (id) => tokens.issue(id),
    find: (id) => fleet.get(id),
    isUsable: (keyId) => keys.isUsable(keyId),
  });
  const metrics = new MetricsStreams(agents, (id) => fleet.get(id));
  const api = controlPlaneApi({
    fleet,
    programs,
    defaultEgress: internet.egress,
    egress,
    ...{ templates, builds, imports, uploads },
    baseUrl: (host) => addresses.base(host),
    tokens,
    keys,
    ...{ volumes, snapshots, storedSecrets },
    limiter: new RateLimiter(options.rateLimit ?? defaultRateLimit, keys),
    runtime: runtime.name,
    refusalOfPriorityClass: runtime.refusalOfPriorityClass?.bind(runtime),
    isolation,
    version,
    problem: () =>
      store.problem() ??
      (machines.problem === undefined ? undefined : { storage: "ok", message: machines.problem }),
    agentUrl: (id, host) => addresses.base(host) + agentPath(id),
    previewUrls: (...of) => ({
      ...addresses.previews(...of),
      preview_access: arePrivate ? "private" : "public",
    }),
    linking: { links, addresses, arePrivate },
    metrics: (id, signal) => Readable.from(metrics.open(id, signal), { objectMode: false }),
    stream: (pieces) => Readable.from(pieces),
    webhooks,
    events,
    executionEvents,
    metricsOf: (id, signal) => metrics.read(id, signal),
    serverMetrics,
    onRequest: audit?.onRequest,
    log,
  });
  const previews = new PreviewGateway({
    agents: gateway,
    issueToken: (id) => tokens.issue(id),
    isAccountKey: (text) => keys.knows(text),
    protocolFor: (host) => (addresses.publicUrl(host)?.startsWith("https:") ? "https" : "http"),
    links: arePrivate ? links : undefined,
  });
  server.on("request", (_, response) => response.once("close", activity.begin()));
  server.on("upgrade", (_, connection) => connection.once("close", activity.begin(streamBeginningMs)));
  executionEvents.watch(server);
  if (serverMetrics) watchExecutions(server, (...execution) => serverMetrics.noteExecution(...execution));
  const hosts = new HostGuard(options.host ?? defaultHost, [
    ...(options.allowedHosts ?? []),
    ...(publicAddress ? [publicAddress.hostname] : []),
  ]);
  routeRequests(server, {
    hosts,
    keys: new KeyGuard(keys),
    crossOrigin,
    agents: gateway,
    webhooks,
    previews,
    links,
    api,
    callers: new RequestCallers(keys, tokens.tokenOwners),
    connections: new ConnectionBudget(),
    log,
    openCalls,
    ...(audit && { onAgentAnswer: audit.onAgentAnswer }),
  });

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    server.close();
    executionEvents.close();
    await webhooks.close();
    await imports.close();
    await builds.close();
    await programs.close();
    const lost = await fleet.close();
    await directories.close();
    server.closeAllConnections();
    await runtime.close();
    audit?.close();
    const unrecorded = await store.close();
    if (lost + unrecorded > 0)
      throw new NotKeptError(lost, unrecorded, store.isKept && store.directory === undefined);
  };
  let url: string;
  try {
    await withStoreErrors(store, () => webhooks.resume());
    executionEvents.resume();
    url = await open(server);
  } catch (error) {
    await close().catch((closeError: unknown) => log(`The failed start left files behind: ${closeError}`));
    throw error;
  }
  machines.fill();
  // A server in its caller's process was started for a call, which comes next.
  if (pool > 0 || options.holdsProcess === false) runtime.expectPrograms?.({ language: "python", limits });
  runtime
    .removeLeftovers(owner)
    .catch((cause: unknown) => log(`Leftovers of killed servers remain until the next start: ${cause}`));
  return {
    url,
    apiKey,
    runtime: runtime.name,
    isolation,
    internet: internet.text,
    close: () => {
      closing ??= holdingProcess(close);
      return closing;
    },
  };
}
