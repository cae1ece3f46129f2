// Measures what a sandbox costs the cluster, and what the server that leads carries. docs/guides/kubernetes-at-scale.md has the values.
//   KUBECONFIG=… BENCH_KUBERNETES_IMAGE=… BENCH_KUBERNETES_AGENT_IMAGE=… node bench/kubernetes/scale.mjs DIR [records …]
//   DIR       the directory of a cluster that test/support/kubernetes/up started. KUBECONFIG names the account of deploy/kubernetes/sandboxes.yaml in it
//   records   how many records to measure the leader with; default: 0 1000 4000 10000
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxClient } from "cloud-sandbox";
import { processorSeconds, residentMemory } from "../process-usage.mjs";
import { serve } from "../serve.mjs";
import { openCluster } from "./cluster.mjs";
import { ClusterCounts } from "./cluster-counts.mjs";

const { CoreV1Api, KubeConfig, Watch } = createRequire(
  new URL("../../packages/local/package.json", import.meta.url),
)("@kubernetes/client-node");

const [directory, ...counts] = process.argv.slice(2);
if (!directory) throw new Error("Name the directory of a cluster that test/support/kubernetes/up started.");
const recordCounts = counts.length > 0 ? counts.map(Number) : [0, 1000, 4000, 10_000];
const sandboxCount = 20;
const { namespace, options } = openCluster();
const admin = new KubeConfig();
admin.loadFromFile(join(directory, "kubeconfig"));
const api = admin.makeApiClient(CoreV1Api);
const cluster = new ClusterCounts(directory, namespace);
const serverOptions = [...options, "--kubernetes-records", "--pool", "0", "--max-sandboxes", "10000"];

await removeRecords();
const record = await measureSandboxes();
await measureRecords(record);
await removeRecords();

/** The requests and bytes of sandboxes that live through a create, calls and a delete. Resolves with the record of one. */
async function measureSandboxes() {
  const server = await serve(...serverOptions);
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const idle = residentMemory(server.pid);
  const inUse = await cluster.inUse();
  // Events of earlier sandboxes stay for an hour.
  const events = await cluster.stored("events");
  const sandboxes = [];
  let configMap;
  try {
    await counted("nothing, for as long as what follows is watched", async () => undefined);
    await counted("create", async () => {
      for (let wave = 0; wave < sandboxCount / 4; wave += 1)
        sandboxes.push(
          ...(await Promise.all([0, 1, 2, 3].map(() => client.sandboxes.create({ template: "base" })))),
        );
    });
    for (const kind of ["pods", "configmaps"]) {
      const { count, bytes } = await cluster.stored(kind);
      print(`${kind} in etcd`, `${each(count)} of ${round(bytes / count)} bytes per sandbox`);
    }
    const pods = await api.listNamespacedPod({ namespace });
    print("a Pod as JSON", `${round(JSON.stringify(pods.items[0]).length)} bytes`);
    configMap = await api.readNamespacedConfigMap({ namespace, name: `cloud-sandbox-${sandboxes[0].id}` });
    print("the leader's memory", `${(residentMemory(server.pid) - idle) / sandboxCount} MB more per sandbox`);
    await counted("a new deadline", () => Promise.all(sandboxes.map((sandbox) => sandbox.setTimeout(3600))));
    await counted("an execution", () => Promise.all(sandboxes.map((sandbox) => sandbox.execute("x = 1"))));
    await load(server, "GET of a sandbox", () => client.sandboxes.get(sandboxes[0].id));
    let next = 0;
    await load(server, "execute of a line", () => {
      next += 1;
      return sandboxes[next % sandboxCount].execute("x = 1");
    });
  } finally {
    await counted("delete", () => Promise.all(sandboxes.map((sandbox) => sandbox.delete())));
    await client.close();
    await server.stop();
  }
  const after = await cluster.stored("events");
  print(
    "events in etcd after the delete",
    `${each(after.count - events.count)}, ${round((after.bytes - events.bytes) / sandboxCount)} bytes per sandbox`,
  );
  const ended = await cluster.stored("configmaps");
  print("an ended record", `${round(ended.bytes / ended.count)} bytes`);
  const grown = (await cluster.inUse()) - inUse;
  print(
    "all versions in etcd, from create to delete",
    grown > 0 ? `${round(grown / sandboxCount)} bytes per sandbox` : "etcd has compacted them meanwhile",
  );
  return configMap;
}

/** Time and memory of a server that begins to lead with many records, whose Pods are gone. */
async function measureRecords(record) {
  for (const count of recordCounts) {
    await removeRecords();
    const began = performance.now();
    await inTurns(count, (index) => api.createNamespacedConfigMap(copyOf(record, index)));
    const made = performance.now() - began;
    const processor = () => processorSeconds([cluster.pid("apiserver"), cluster.pid("etcd")]);
    const before = processor();
    const started = performance.now();
    let server;
    const requests = await cluster.requests(async () => {
      server = await serve(...serverOptions);
    });
    const ready = performance.now() - started;
    const headers = { "x-api-key": server.apiKey };
    const list = async () => (await fetch(`${server.url}/v1/sandboxes?limit=100`, { headers })).json();
    const first = performance.now();
    await list();
    const firstList = performance.now() - first;
    await settled(server);
    const samples = [];
    for (let repeat = 0; repeat < 20; repeat += 1) {
      const begun = performance.now();
      await list();
      samples.push(performance.now() - begun);
    }
    const { bytes } = await cluster.stored("configmaps");
    print(
      `${count} records`,
      `made at ${round(count / (made / 1000))}/s; ${round(bytes / 1e3)} kB in etcd; ready after ${round(ready)} ms, first list ${round(firstList)} ms, ` +
        `list of 100 ${samples.sort((a, b) => a - b)[10].toFixed(1)} ms; memory ${round(residentMemory(server.pid))} MB; ` +
        `API server and etcd ${(processor() - before).toFixed(1)} s of CPU; ${JSON.stringify(requests.server)}`,
    );
    await server.stop();
  }
}

/** Prints what `work`, which does something with all sandboxes, costs the cluster for each of them. */
async function counted(name, work) {
  const processor = () => processorSeconds(["apiserver", "etcd"].map((program) => cluster.pid(program)));
  const [watched, stopWatching] = await watchAll();
  const before = processor();
  const requests = await cluster.requests(async () => {
    await work();
    // Kubelets and controllers report what they have done for some seconds more.
    await sleep(8000);
  });
  stopWatching();
  const total = Object.values(requests)
    .flatMap(Object.values)
    .reduce((sum, count) => sum + count, 0);
  print(
    name,
    `${each(total)} requests, ${each((processor() - before) * 1000)} ms of the API server's and etcd's CPU`,
  );
  for (const [program, made] of Object.entries(requests)) print(`  ${program}`, eachOf(made));
  print("  events that a watch gets", eachOf(watched));
}

/** Counts the events that watches of the namespace get, until it is stopped. */
async function watchAll() {
  const [pods, configmaps, events] = await Promise.all([
    api.listNamespacedPod({ namespace, limit: 1 }),
    api.listNamespacedConfigMap({ namespace, limit: 1 }),
    api.listNamespacedEvent({ namespace, limit: 1 }),
  ]);
  const counts = { pods: 0, configmaps: 0, events: 0 };
  const watches = await Promise.all(
    Object.entries({ pods, configmaps, events }).map(([kind, { metadata }]) =>
      new Watch(admin).watch(
        `/api/v1/namespaces/${namespace}/${kind}`,
        { resourceVersion: metadata.resourceVersion },
        () => {
          counts[kind] += 1;
        },
        () => undefined,
      ),
    ),
  );
  const stop = () => {
    for (const watch of watches) watch.abort();
  };
  return [counts, stop];
}

/** Prints how many calls the server answers in a second, and the CPU that it needs for one. */
async function load(server, name, call) {
  for (let warm = 0; warm < 50; warm += 1) await call();
  const before = processorSeconds([server.pid]);
  const began = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (performance.now() - began < 6000) {
        await call();
        done += 1;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const processor = ((processorSeconds([server.pid]) - before) * 1000) / done;
  print(name, `${round(done / seconds)} calls/s, ${processor.toFixed(2)} ms of the server's CPU each`);
}

/** Waits until the server has done what it does after its start. */
async function settled({ pid }) {
  for (let last = -1, now = processorSeconds([pid]); now - last > 0.05; now = processorSeconds([pid])) {
    last = now;
    await sleep(1000);
  }
}

function copyOf({ metadata, data }, index) {
  const record = JSON.parse(data.record);
  const id = `${record.id.slice(0, -6)}${String(index).padStart(6, "0")}`;
  const body = {
    metadata: { name: `cloud-sandbox-${id}`, labels: metadata.labels },
    data: { ...data, record: JSON.stringify({ ...record, id }) },
  };
  return { namespace, body };
}

async function removeRecords() {
  await api.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: "cloud-sandbox.dev/record" });
}

/** Calls `work` for each index, 16 at a time. */
async function inTurns(count, work) {
  let next = 0;
  const one = async () => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
}

function eachOf(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${each(count)} ${name}`)
    .join(", ");
}

function each(count) {
  return Number((count / sandboxCount).toFixed(2));
}

function round(value) {
  return Math.round(value);
}

function print(name, text) {
  console.log(`- ${name}: ${text}`);
}
