import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { startBareNode, startMcp } from "./mcp-client.mjs";
import { byNode, compare, summarize } from "./measure.mjs";
import { residentMemory } from "./process-usage.mjs";
import { withServed } from "./served.mjs";

const run = promisify(execFile);
const pnpm = fileURLToPath(new URL("../node_modules/.bin/pnpm", import.meta.url));
const settle = () => new Promise((resolve) => setTimeout(resolve, 300));

/**
 * Measures the built MCP server: how soon it answers, its memory, and what it adds to a call. Where times depend on the
 * machine, they are not checked, so few samples are taken.
 */
export async function benchMcp({ anyMachine }) {
  return [
    await startUp(),
    await memory(),
    ...(await withServed("client/server.mjs", (url) => calls(url, anyMachine ? 100 : 1_000))),
    await fromTarball(anyMachine ? 1 : 5),
  ];
}

/** Measures from the spawn to the list of tools, against a bare Node.js that answers one line. */
async function startUp() {
  const running = [];
  const started = async (server, done) => {
    running.push(server);
    await done(server);
  };
  const stopAll = () => Promise.all(running.splice(0).map((server) => server.stop()));
  const result = await compare({
    name: "MCP server, spawn to its list of tools, over a bare Node.js start",
    limit: byNode(6.5, 4.5),
    rounds: 15,
    floor: () => started(startBareNode(), (server) => server.initialize()),
    subject: () =>
      started(startMcp({ env: cloudAt("http://127.0.0.1:9") }), async (server) => {
        await server.initialize();
        await server.request("tools/list");
      }),
    settle: () => stopAll().then(settle),
  });
  await stopAll();
  return result;
}

async function memory() {
  const server = startMcp({ env: cloudAt("http://127.0.0.1:9") });
  await server.initialize();
  await server.request("tools/list");
  await settle();
  const subject = residentMemory(server.pid);
  await server.stop();
  return { name: "MCP server, resident memory after tools/list", unit: "MB", subject, limit: 75 };
}

/**
 * Measures calls through the MCP server against the same calls by the client alone. The server of the bench answers at
 * once.
 */
async function calls(url, count) {
  const server = startMcp({ env: cloudAt(url) });
  const client = new SandboxClient({ apiKey: "bench", baseUrl: url });
  const throughServer = () => server.call("get_sandbox", { id: "1" });
  const direct = () => client.sandboxes.get("1");
  try {
    await server.initialize();
    await rounds(200, throughServer, direct);
    const [mcp, alone] = await rounds(count, throughServer, direct);
    const added = mcp.median - alone.median;
    const name = "MCP server, what a call costs beyond the same call of the client";
    const overhead = { name, unit: "ms", floor: alone.median, subject: added, p95: mcp.p95, limit: 1 };
    for (let time = 0; time < 8; time += 1) await inFlight(throughServer);
    const before = residentMemory(server.pid);
    for (let time = 0; time < 4; time += 1) await inFlight(throughServer);
    const grown = residentMemory(server.pid) - before;
    const growth = {
      name: "MCP server, memory that 4,000 calls leave, 50 in flight",
      unit: "MB",
      subject: grown,
      limit: 10,
    };
    return [overhead, growth];
  } finally {
    await client.close();
    await server.stop();
  }
}

async function rounds(count, ...works) {
  const samples = works.map(() => []);
  for (let round = 0; round < count; round += 1) {
    for (const [at, work] of works.entries()) {
      const started = performance.now();
      await work();
      samples[at].push(performance.now() - started);
    }
  }
  return samples.map(summarize);
}

/** Makes 1,000 calls, 50 at a time. Throws if one fails. */
async function inFlight(call) {
  let left = 1_000;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: 50 }, worker));
}

/** Measures from `npx` of the packed package to the first answer. Nothing is downloaded. */
async function fromTarball(times) {
  const directory = mkdtempSync(join(tmpdir(), "bench-mcp-"));
  try {
    const home = fileURLToPath(new URL("../packages/mcp", import.meta.url));
    await run(pnpm, ["pack", "--pack-destination", directory], { cwd: home });
    const tarball = join(directory, readdirSync(directory)[0]);
    const args = ["-y", "--offline", "--omit=optional", `--package=${tarball}`, "cloud-sandbox-mcp"];
    const env = { ...cloudAt("http://127.0.0.1:9"), npm_config_cache: join(directory, "cache") };
    const took = [];
    // The first of several rounds warms up.
    for (let round = times > 1 ? -1 : 0; round < times; round += 1) {
      const started = performance.now();
      const server = startMcp({ command: "npx", args, env, cwd: directory });
      await server.initialize();
      if (round >= 0) took.push(performance.now() - started);
      await server.stop();
    }
    const { median, p95 } = summarize(took);
    return {
      name: "MCP server, npx of the packed package to the first answer",
      unit: "ms",
      subject: median,
      p95,
      limit: 1_500,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function cloudAt(url) {
  return { CLOUD_SANDBOX_BACKEND: "cloud", CLOUD_SANDBOX_API_KEY: "bench", CLOUD_SANDBOX_BASE_URL: url };
}
