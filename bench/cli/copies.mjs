import { once } from "node:events";
import { createWriteStream, rmSync } from "node:fs";
import { join } from "node:path";
import { SandboxClient } from "../../packages/client/dist/index.js";
import { compare } from "../measure.mjs";
import { serve } from "../serve.mjs";
import { cloudSandbox, runCommand } from "./run-command.mjs";

/** `cp` of a large file both ways, against curl with the same server. The disks are in memory on both sides. */
export async function benchCopies({ env, mebibytes = 1024 }) {
  const directory = "/dev/shm";
  const file = join(directory, `cloud-sandbox-bench-${process.pid}`);
  const back = `${file}-back`;
  const server = await serve(
    ...["--pool", "0", "--disk-mb", String(mebibytes * 2), "--memory-mb", String(mebibytes * 3)],
  );
  const remote = { ...env, CLOUD_SANDBOX_API_KEY: server.apiKey, CLOUD_SANDBOX_BASE_URL: server.url };
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  try {
    await writeFileOf(file, mebibytes);
    const sandbox = await client.sandboxes.create({ timeoutSeconds: 3600 });
    const { direct_url: agent, auth_token: token } = await access(server, sandbox.id);
    const curl = (...words) =>
      runCommand(
        ["curl", "--fail", "--silent", "--show-error", "-H", `Authorization: Bearer ${token}`, ...words],
        remote,
      );
    const query = "path=%2Fworkspace%2Ffile";
    return [
      await compare({
        name: `cloud-sandbox cp of ${mebibytes} MiB into a sandbox, over curl`,
        limit: 1.3,
        rounds: 3,
        floor: () =>
          curl(
            "-T",
            file,
            "-X",
            "POST",
            "-H",
            "Content-Type: application/octet-stream",
            `${agent}/files/upload?${query}`,
          ),
        subject: () =>
          runCommand([...cloudSandbox, "cp", "-q", file, `${sandbox.id}:/workspace/file`], remote),
      }),
      await compare({
        name: `cloud-sandbox cp of ${mebibytes} MiB out of a sandbox, over curl`,
        limit: 1.4,
        rounds: 3,
        floor: () => curl("-o", back, `${agent}/files/download?${query}`),
        subject: () =>
          runCommand([...cloudSandbox, "cp", "-q", `${sandbox.id}:/workspace/file`, back], remote),
      }),
    ];
  } finally {
    for (const path of [file, back]) rmSync(path, { force: true });
    await client.close();
    await server.stop();
  }
}

async function writeFileOf(file, mebibytes) {
  const piece = Buffer.alloc(1024 * 1024, "x");
  const stream = createWriteStream(file);
  for (let index = 0; index < mebibytes; index += 1) if (!stream.write(piece)) await once(stream, "drain");
  stream.end();
  await once(stream, "close");
}

/** The address of a sandbox's agent, and a token for it. */
async function access(server, id) {
  const ask = async (path, method) => {
    const response = await fetch(`${server.url}/v1/sandboxes/${id}${path}`, {
      method,
      headers: { "X-API-Key": server.apiKey },
    });
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    return response.json();
  };
  const { direct_url } = await ask("", "GET");
  const { auth_token } = await ask("/token/refresh", "POST");
  return { direct_url, auth_token };
}
