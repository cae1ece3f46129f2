import { setTimeout as sleep } from "node:timers/promises";
import { withCluster } from "./kubernetes/cluster.mjs";
import { RecordsServer } from "./kubernetes/records-server.mjs";
import { compare, progress, summarize } from "./measure.mjs";
import { withBareAgent } from "./runtimes/bare-agent.mjs";
import { RuntimeServers } from "./runtimes/runtime-servers.mjs";

const records = 200;

/**
 * Measures sandboxes that are Pods: against bubblewrap, and against a Pod that only sleeps. Starts the cluster of the tests, where a server on
 * this machine reaches Pods at their addresses as one inside does; or takes that of KUBECONFIG, which has the images that BENCH_KUBERNETES_IMAGE
 * and BENCH_KUBERNETES_AGENT_IMAGE name, and all calls go through the API server.
 */
export const benchKubernetes = ({ long }) => withCluster((cluster) => measure(cluster, long ? 30 : 8));

async function measure(cluster, rounds) {
  const opened = [];
  const open = async (...args) => {
    opened.push(await RuntimeServers.start(...args));
    return opened.at(-1);
  };
  try {
    const bubblewrap = await open("--runtime", "bubblewrap");
    const pods = await open(...(cluster.directOptions ?? cluster.options));
    const settle = async () => {
      await bubblewrap.settle();
      await pods.settle();
    };
    return [
      await compare({
        name: "Pods, create to the end of node -v, over bubblewrap's",
        limit: 2,
        ...{ rounds, settle },
        floor: () => bubblewrap.firstCommand(),
        subject: () => pods.firstCommand(),
      }),
      await cold(cluster, pods, settle, rounds, "Pods that copy the agent, create without a waiting Pod"),
      ...(await coldWithAgent(cluster, rounds)),
      ...(cluster.directOptions ? [await executions(bubblewrap, pods, settle, rounds, "Pods", 1.2)] : []),
      await throughApiServer(cluster, bubblewrap, rounds),
      await listed(cluster),
    ];
  } finally {
    for (const servers of opened) await servers.stop();
  }
}

/**
 * A create for which no Pod waits, over a Pod of the same image that only sleeps, until it is ready, and the start of an agent. Both Pods have a
 * volume to write to: the kubelet takes half a second longer for a Pod that has any.
 */
function cold(cluster, pods, settle, rounds, title, limit) {
  return withBareAgent(async (startAgent) => {
    const ends = [];
    return compare({
      name: `${title}, over the start of a Pod that sleeps and of a bare agent`,
      limit,
      rounds: 3 * rounds,
      floor: async () => {
        ends.push(await cluster.startPod());
        ends.push(await startAgent());
      },
      subject: () => pods.boot(),
      settle: async () => {
        await Promise.all(ends.splice(0).map((end) => end()));
        await settle();
        // The kubelet looks once a second what has become of its containers.
        await sleep(1000 * Math.random());
      },
    });
  });
}

/** The same with an image that has the agent. */
async function coldWithAgent(cluster, rounds) {
  if (!cluster.optionsWithAgent) return [];
  const pods = await RuntimeServers.start(...cluster.optionsWithAgent);
  try {
    const title = "Pods whose image has the agent, create without a waiting Pod";
    return [await cold(cluster, pods, () => pods.settle(), rounds, title, 1.2)];
  } finally {
    await pods.stop();
  }
}

async function throughApiServer(cluster, bubblewrap, rounds) {
  const pods = await RuntimeServers.start(...cluster.options);
  try {
    const settle = () => Promise.all([bubblewrap.settle(), pods.settle()]);
    return await executions(bubblewrap, pods, settle, rounds, "Pods through the API server");
  } finally {
    await pods.stop();
  }
}

/** Calls of execute in one sandbox of each: a line in a context of Python. */
async function executions(bubblewrap, pods, settle, rounds, title, limit) {
  const [floor, subject] = [await bubblewrap.boot(), await pods.boot()];
  const execute = (sandbox) => sandbox.execute("x = 1", { language: "python" });
  const result = await compare({
    name: `${title}, execute("x = 1") in a context, over bubblewrap's`,
    limit,
    rounds: 20 * rounds,
    floor: () => execute(floor),
    subject: () => execute(subject),
  });
  await settle();
  return result;
}

/** The list of many sandboxes, of a server that has its records in the cluster. */
async function listed(cluster) {
  progress(`the list of ${records} sandboxes`);
  const server = await RecordsServer.start(cluster, records);
  try {
    const samples = [];
    for (let round = -5; round < 50; round += 1) {
      const began = performance.now();
      const count = await server.list();
      if (count !== records) throw new Error(`${count} sandboxes were listed`);
      if (round >= 0) samples.push(performance.now() - began);
    }
    const { median, p95 } = summarize(samples);
    return {
      name: `list of ${records} sandboxes with records in the cluster`,
      unit: "ms",
      subject: median,
      p95,
      limit: 50,
    };
  } finally {
    await server.stop();
  }
}
