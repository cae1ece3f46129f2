import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { savedImage, tarOf } from "../../../packages/local/test/support/image-archives.js";
import { baseFiles } from "../docker/base-image.js";
import { loadImage } from "./load-image.js";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../../packages/local/dist/main.js", import.meta.url));

/** Gives a cluster that `up` started an image of sandboxes with the agent in it, as the Dockerfile of the guide makes one. Resolves with its name. */
export async function loadImageWithAgent(cluster: string): Promise<string> {
  const reference = "docker.io/library/cloud-sandbox-with-agent:local";
  const directory = await mkdtemp(join(tmpdir(), "image-with-agent-"));
  try {
    const archive = join(directory, "agent.tar");
    await run(process.execPath, [main, "agent-image", archive, "--name", "agent:local"]);
    const mostBytes = { encoding: "buffer", maxBuffer: 1 << 29 } as const;
    const { stdout: agent } = await run("tar", ["-xOf", archive, "layer/layer.tar"], mostBytes);
    const accounts = tarOf([
      {
        path: "etc/passwd",
        text: "root:x:0:0:root:/root:/bin/sh\nsandbox:x:1000:1000::/home/sandbox:/bin/bash\n",
      },
      { path: "etc/group", text: "root:x:0:\nsandbox:x:1000:\n" },
    ]);
    const layers = [await buffer(await baseFiles()), agent, accounts];
    await loadImage(cluster, savedImage({ layers, reference, config: {} }));
    return reference;
  } finally {
    await rm(directory, { recursive: true });
  }
}
