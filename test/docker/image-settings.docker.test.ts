import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { expect, test } from "vitest";
import { dockerEnvironment, startDockerServer, withoutDocker } from "../support/docker/docker-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("settings of images", ({ skip }) => skip(obstacle));
else {
  test("an image's health check does not run: code would be root in it", async () => {
    await withImage("HEALTHCHECK --interval=1s CMD checked", async (client, image) => {
      await using sandbox = await client.sandboxes.create({ template: image });
      const plant = "mkdir -p ~/.local/bin; cd ~/.local/bin; echo 'id -u >/tmp/uid' >checked; chmod +x checked";
      await sandbox.commands.run(plant);
      await sleep(3000);
      expect(await sandbox.files.exists("/tmp/uid")).toBe(false);
    });
  });
}

/** Runs `use` with a server that has an image of its own, which one instruction makes of that of the tests. */
async function withImage(
  change: string,
  use: (client: SandboxClient, image: string) => Promise<void>,
): Promise<void> {
  const { CLOUD_SANDBOX_DOCKER_IMAGE: base = "" } = dockerEnvironment();
  const image = "cloud-sandbox-settings:1";
  const id = await docker("create", base, "true");
  await docker("commit", "--change", change, id, image).finally(() => docker("rm", id));
  const server = await startDockerServer({ args: ["--docker-image", image, "--pool", "0"] });
  try {
    await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    await use(client, image);
  } finally {
    await server.stop();
    await docker("rmi", "--force", image);
  }
}

async function docker(...args: readonly string[]): Promise<string> {
  const host = dockerEnvironment().DOCKER_HOST ?? "";
  return (await promisify(execFile)("docker", ["--host", host, ...args])).stdout.trim();
}
