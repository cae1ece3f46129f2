import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { SandboxClient } from "cloud-sandbox";
import { compared, progress } from "./measure.mjs";
import { residentMemory } from "./process-usage.mjs";
import { serveThrough } from "./serve.mjs";
import { testModule } from "./test-module.mjs";

const fileOf = (name) => fileURLToPath(new URL(`secrets/${name}`, import.meta.url));
const [ended, blind] = ["ended.secret.test", "blind.secret.test"];

/**
 * Measures requests to a host that has a secret, whose TLS the egress proxy ends, against the same through a blind tunnel. Both run in one
 * sandbox and alternate. Skipped where nobody may give the server a hosts file of its own.
 */
export async function benchSecrets({ long }) {
  if (process.getuid() !== 0) return [{ name: "secrets", skipped: "these names need root" }];
  const { startSecretSite } = await testModule("support/secret-site.ts");
  const site = await startSecretSite([ended, blind]);
  const origin = fork(fileOf("origin.mjs"), [dirname(site.authority)]);
  try {
    const [port] = await once(origin, "message");
    return await withSandbox(site, port, (sandbox, pid) => measure(sandbox, pid, port, long));
  } finally {
    origin.disconnect();
    await site[Symbol.asyncDispose]();
  }
}

async function withSandbox(site, port, use) {
  const allowed = [ended, blind].flatMap((name) => ["--egress-allow-private", `${name}:${port}`]);
  const server = await serveThrough(site.through, "--pool", "0", "--trust-ca", site.authority, ...allowed);
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  try {
    const sandbox = await client.sandboxes.create({
      timeoutSeconds: 3600,
      secrets: { TOKEN: { value: "credential-of-the-bench-0123456789", hosts: [`${ended}:${port}`] } },
    });
    await sandbox.files.write("/workspace/client.mjs", readFileSync(fileOf("client.mjs")));
    return await use(sandbox, server.pid);
  } finally {
    await client.close();
    await server.stop();
  }
}

async function measure(sandbox, pid, port, long) {
  const rounds = long ? 7 : 3;
  const [bytes, size] = long ? [1024 ** 3, "1 GiB"] : [256 * 1024 ** 2, "256 MiB"];
  const compare = async (name, kind, count, limit) => {
    progress(`${rounds} rounds: ${name}`);
    const samples = { floor: [], subject: [] };
    const memory = { floor: 0, subject: 0 };
    for (let round = -1; round < rounds; round += 1)
      for (const [side, host] of Object.entries({ floor: blind, subject: ended })) {
        const watch = setInterval(() => {
          memory[side] = Math.max(memory[side], residentMemory(pid));
        }, 20);
        const { stdout, stderr } = await sandbox.commands.run(
          ["node", "client.mjs", kind, host, String(port), String(count)],
          { timeoutSeconds: 300 },
        );
        clearInterval(watch);
        if (stdout === "") throw new Error(stderr);
        // The first round warms up.
        if (round >= 0) samples[side].push(Number(stdout));
      }
    return { result: compared({ name, limit, ...samples }), memory: memory.subject - memory.floor };
  };
  const small = await compare(
    "1,000 requests to a host with a secret, over a blind tunnel",
    "small",
    1000,
    1.6,
  );
  const http1 = await compare(`${size} from a host with a secret, over a blind tunnel`, "http1", bytes, 1.6);
  const http2 = await compare(
    `${size} in one HTTP/2 stream from a host with a secret, over a blind tunnel`,
    "http2",
    bytes,
    2.5,
  );
  return [
    ...[small, http1, http2].map(({ result }) => result),
    {
      name: `resident memory of the server, more for ${size} from a host with a secret than over a blind tunnel`,
      unit: "MB",
      subject: Math.max(http1.memory, http2.memory),
      limit: 42,
    },
  ];
}
