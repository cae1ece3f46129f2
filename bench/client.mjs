import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SandboxClient } from "cloud-sandbox";
import { Agent, request } from "undici";
import { summarize } from "./measure.mjs";

const inFlight = 50;
const calls = 10_000;
const rounds = 5;

/** Calls through the typed client, against `undici.request` with the same connections to the same server. */
export async function benchClient() {
  const { server, url } = await startServer();
  const client = new SandboxClient({ apiKey: "bench", baseUrl: url });
  const dispatcher = new Agent({ connections: inFlight });
  const raw = async () => {
    const { body } = await request(`${url}/v1/sandboxes/1`, {
      dispatcher,
      headers: { "x-api-key": "bench" },
    });
    return body.json();
  };
  const typed = () => client.sandboxes.get("1");
  try {
    const rates = { raw: [], typed: [] };
    for (let round = -1; round < rounds; round += 1) {
      for (const [side, call] of [
        ["raw", raw],
        ["typed", typed],
      ]) {
        const rate = await callsPerSecond(call);
        if (round >= 0) rates[side].push(rate);
      }
    }
    const floor = summarize(rates.raw).median;
    const subject = summarize(rates.typed).median;
    const name = `client calls, ${inFlight} in flight, over raw undici.request`;
    return [{ name, unit: "calls/s", floor, subject, ratio: subject / floor, limit: 0.65, atLeast: true }];
  } finally {
    await client.close();
    await dispatcher.close();
    server.kill();
  }
}

async function callsPerSecond(call) {
  let left = calls;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return calls / ((performance.now() - started) / 1000);
}

/** In a process of its own, so that the client has a core to itself. */
async function startServer() {
  const server = fork(fileURLToPath(new URL("./client-server.mjs", import.meta.url)));
  const url = await new Promise((resolve) => server.once("message", resolve));
  return { server, url };
}
