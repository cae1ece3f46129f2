import { setTimeout as sleep } from "node:timers/promises";
import { SandboxClient } from "cloud-sandbox";
import { request } from "undici";
import { run } from "./isolated.mjs";
import { compare, summarize } from "./measure.mjs";
import { familyOf, processorSeconds, proportionalMemory } from "./process-usage.mjs";
import { serve } from "./serve.mjs";
import { withServed } from "./served.mjs";

const sandboxes = 100;
const mebibyte = 1024 * 1024;
/** Gives the pool time to fill, and the machine time to finish other work. */
const quiet = () => sleep(300);

/**
 * Measures the local server in a process of its own: the time to a first command, calls, and what idle sandboxes cost.
 */
export async function benchLocal() {
  return [
    ...(await withServer(["--pool", "4"], firstCommands)),
    ...(await withServer(["--pool", "1"], calls)),
    ...(await withServer(["--pool", "4", "--max-sandboxes", "128", "--memory-overcommit", "16"], crowd)),
  ];
}

async function withServer(args, bench) {
  const server = await serve(...args);
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  try {
    return await bench(client, server);
  } finally {
    await client.close();
    await server.stop();
  }
}

/**
 * Measures from a create to the end of `node -v`, one sandbox after the other, as public comparisons of sandbox clouds
 * do.
 */
async function firstCommands(client) {
  const took = [];
  await quiet();
  const result = await compare({
    name: `create to the end of node -v, ${sandboxes} one after the other, over a bare node -v`,
    limit: 25,
    bound: "subject",
    rounds: sandboxes,
    floor: () => run([process.execPath, "-v"]),
    subject: async () => {
      const started = performance.now();
      const sandbox = await firstCommand(client);
      took.push({ sandbox, duration: performance.now() - started });
    },
    settle: async () => {
      await Promise.all(took.splice(0).map(({ sandbox }) => sandbox.delete()));
      await quiet();
    },
  });
  await Promise.all(took.map(({ sandbox }) => sandbox.delete()));
  return [result];
}

async function firstCommand(client) {
  const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
  const { exitCode, stderr } = await sandbox.commands.run(["node", "-v"]);
  if (exitCode !== 0) throw new Error(`node -v ended with ${exitCode}: ${stderr}`);
  return sandbox;
}

const calls = (client, server) => withServed("bare-server.mjs", (url) => callsAgainst(url, client, server));

/** Measures calls against one round trip to a bare server, and files against plain requests to the same sandbox. */
async function callsAgainst(url, client, { url: gateway, apiKey }) {
  const content = Buffer.alloc(mebibyte, "x");
  const raw = async (address, options) => (await request(address, options)).body.arrayBuffer();
  const sandbox = await client.sandboxes.create({ template: "code-interpreter" });
  const renewed = await request(`${gateway}/v1/sandboxes/${sandbox.id}/token/refresh`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
  });
  const { auth_token: token } = await renewed.body.json();
  const headers = { authorization: `Bearer ${token}` };
  const file = (operation) => `${gateway}/agent/${sandbox.id}/files/${operation}?path=%2Fworkspace%2Fdata`;
  await sandbox.execute("x = 0", { language: "python" });
  return [
    await compare({
      name: 'execute("x += 1") in a context, over one HTTP round trip',
      limit: 2,
      bound: "subject",
      rounds: 500,
      floor: () => raw(url, { method: "POST", body: "{}" }),
      subject: () => sandbox.execute("x += 1", { language: "python" }),
    }),
    await compare({
      name: "files.write of 1 MiB, over undici.request",
      limit: 1.3,
      rounds: 200,
      floor: () =>
        raw(file("upload"), {
          method: "POST",
          headers: { ...headers, "content-type": "application/octet-stream" },
          body: content,
        }),
      subject: () => sandbox.files.write("/workspace/data", content),
    }),
    await compare({
      name: "files.readBytes of 1 MiB, over undici.request",
      limit: 1.3,
      rounds: 200,
      floor: () => raw(file("download"), { headers }),
      subject: () => sandbox.files.readBytes("/workspace/data"),
    }),
  ];
}

/** Creates a hundred sandboxes at once, then measures what they use while they are idle. */
async function crowd(client, { pid }) {
  const idle = await processorShare(pid, 5000);
  const took = [];
  const created = await Promise.allSettled(
    Array.from({ length: sandboxes }, async () => {
      const started = performance.now();
      const sandbox = await firstCommand(client);
      took.push(performance.now() - started);
      return sandbox;
    }),
  );
  const alive = await Promise.allSettled(
    created.map(async ({ value, reason }) => {
      if (!value) throw reason;
      return value.commands.run(["true"]);
    }),
  );
  const count = alive.filter(({ status }) => status === "fulfilled").length;
  const { median, p95 } = summarize(took);
  const spread = `first command after ${median.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`;
  // Wait until each sandbox has ended the interpreter that it starts in advance: it does so when nobody has used it for
  // a minute.
  await sleep(65_000);
  const memory = proportionalMemory(familyOf(pid));
  const idleCrowd = await processorShare(pid, 5000);
  return [
    {
      name: `a burst of ${sandboxes}, alive at its end (${spread})`,
      unit: "",
      subject: count,
      limit: sandboxes,
      atLeast: true,
    },
    {
      name: `memory of ${sandboxes} sandboxes idle for a minute, and their server (PSS)`,
      unit: "MiB",
      subject: memory,
      limit: 1536,
    },
    { name: "processor used by an idle server with its pool", unit: "%", subject: idle, limit: 1 },
    {
      name: `processor used by ${sandboxes} idle sandboxes and their server`,
      unit: "%",
      subject: idleCrowd,
      limit: 5,
    },
  ];
}

/** CPU time of a process and its descendants, in per cent of one processor. */
async function processorShare(pid, milliseconds) {
  // Wait until the work that follows a start or a burst of creates is over: it is not idleness.
  await sleep(3000);
  const pids = familyOf(pid);
  const before = processorSeconds(pids);
  await sleep(milliseconds);
  return ((processorSeconds(pids) - before) / (milliseconds / 1000)) * 100;
}
