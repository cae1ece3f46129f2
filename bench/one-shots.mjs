import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { hardened, run } from "./isolated.mjs";
import { compare } from "./measure.mjs";
import { measureBoots } from "./one-shots/boots.mjs";
import { dockerRun } from "./one-shots/docker.mjs";
import { measureMany } from "./one-shots/many.mjs";
import { serve } from "./serve.mjs";

const quiet = () => new Promise((resolve) => setTimeout(resolve, 50));

/**
 * Measures single programs that need no sandbox (`POST /v1/executions`) against bubblewrap, which runs the same program
 * with the same namespaces and nothing else. With `long`, runs as many programs as the limits are promised for.
 */
export async function benchOneShots({ long }) {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  // bubblewrap mounts this directory as another user, because `hardened` drops root: that user must be able to write to
  // it.
  chmodSync(directory, 0o777);
  const server = await serve("--pool", "0", "--max-sandboxes", "128", "--memory-overcommit", "16");
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const bare = hardened(directory);
  const floor = () => run(bare);
  const subject = () => oneShot(client);
  try {
    return [
      await compare({
        name: "one-shot, no pool, over bubblewrap with python3",
        limit: 1.5,
        rounds: long ? 60 : 30,
        ...{ floor, subject, settle: quiet },
      }),
      await dockerRun(long ? 20 : 5),
      ...(await measureMany({ floor, subject, long, pid: server.pid })),
      ...(await measureBoots(client, long)),
    ];
  } finally {
    await client.close();
    await server.stop();
    rmSync(directory, { recursive: true });
  }
}

async function oneShot(client) {
  const { data, error } = await client.controlPlane.POST("/v1/executions", {
    body: { code: "print(1)", language: "python", internet_access: false },
  });
  if (data?.stdout !== "1\n") throw new Error(`Unexpected answer: ${JSON.stringify(data ?? error)}`);
}
