import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { expect, test } from "vitest";
import {
  dockerEnvironment,
  startDockerServer,
  withoutDocker,
  withoutGvisor,
} from "../support/docker/docker-server.js";

const obstacle = withoutDocker();
if (obstacle !== undefined) test("settings of images", ({ skip }) => skip(obstacle));
else {
  test("an image's health check does not run: code would be root in it", async () => {
    await withImage("HEALTHCHECK --interval=1s CMD checked", async (client, image) => {
      await using sandbox = await client.sandboxes.create({ template: image });
      const plant =
        "mkdir -p ~/.local/bin; cd ~/.local/bin; echo 'id -u >/tmp/uid' >checked; chmod +x checked";
      await sandbox.commands.run(plant);
      await sleep(3000);
      expect(await sandbox.files.exists("/tmp/uid")).toBe(false);
    });
  });

  test.for([
    ["and have its files", [], "1777\n"],
    ["with gVisor too", ["--docker-runtime", "runsc"], undefined],
  ] as const)(
    "an image's volumes are as read-only as the rest of it, %s",
    async ([, args, mode], { skip }) => {
      const missing = withoutGvisor();
      if (mode === undefined && missing !== undefined) skip(missing);
      const volumes = `VOLUME ["/var/tmp/", "/tmp", "/home"]`;
      const use = async (client: SandboxClient, image: string): Promise<void> => {
        await using sandbox = await client.sandboxes.create({ template: image });
        const { stdout, stderr } = await sandbox.commands.run(
          "stat -c %a /var/tmp; touch /var/tmp/made /tmp/made ~/made",
        );
        if (mode !== undefined) expect(stdout).toBe(mode);
        expect(stderr).toBe("touch: cannot touch '/var/tmp/made': Read-only file system\n");
      };
      const before = await docker("volume", "ls", "--quiet");
      await withImage(volumes, use, args);
      expect(await docker("volume", "ls", "--quiet")).toBe(before);
    },
  );

  test.for([
    ["", []],
    [", with gVisor too", ["--docker-runtime", "runsc"]],
  ] as const)(
    "an image's volumes in the directories of sandboxes are not kept%s",
    async ([, args], { skip }) => {
      const missing = withoutGvisor();
      if (args.length > 0 && missing !== undefined) skip(missing);
      const volumes = `VOLUME ["/workspace/a/b", "/tmp/data", "/home/sandbox/cache"]`;
      const use = async (client: SandboxClient, image: string): Promise<void> => {
        await using sandbox = await client.sandboxes.create({ template: image });
        await sandbox.files.write("/workspace/note", "kept");
        await sandbox.stop();
        await sandbox.start();
        expect(await sandbox.files.readText("/workspace/note")).toBe("kept");
      };
      await withImage(volumes, use, args);
    },
  );

  test("an image whose volume hides what sandboxes need is refused", async () => {
    await withImage("VOLUME /opt", async (client, image) => {
      await expect(client.sandboxes.create({ template: image })).rejects.toThrow(
        /"VOLUME \/opt" hides files/,
      );
    });
  });
}

/** Runs `use` with a server that has an image of its own, which one instruction makes of that of the tests. */
async function withImage(
  change: string,
  use: (client: SandboxClient, image: string) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  const { CLOUD_SANDBOX_DOCKER_IMAGE: base = "" } = dockerEnvironment();
  const image = "cloud-sandbox-settings:1";
  const id = await docker("create", base, "true");
  await docker("commit", "--change", change, id, image);
  await docker("rm", id);
  const server = await startDockerServer({ args: ["--docker-image", image, "--pool", "0", ...args] });
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
