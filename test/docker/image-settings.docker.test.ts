import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  dockerEnvironment,
  startDockerServer,
  withoutDocker,
  withoutGvisor,
} from "../support/docker/docker-server.js";
import type { LocalServer } from "../support/local-server.js";

describe.each([
  ["plain Docker", [], withoutDocker],
  ["gVisor", ["--docker-runtime", "runsc"], withoutGvisor],
] as const)("with %s", (runtime, args, missing) => {
  const obstacle = missing();
  if (obstacle !== undefined) {
    test("settings of images", ({ skip }) => skip(obstacle));
    return;
  }
  const image = `cloud-sandbox-settings-${runtime === "gVisor" ? "gvisor" : "plain"}:1`;
  const hiding = image.replace("settings", "hiding");
  let server: LocalServer;
  let client: SandboxClient;

  beforeAll(async () => {
    await makeImage(image, [
      "HEALTHCHECK --interval=1s CMD checked",
      `VOLUME ["/var/tmp/", "/tmp", "/home", "/workspace/a/b", "/tmp/data", "/home/sandbox/cache"]`,
      "ENV HTTP_PROXY=http://192.0.2.1:9 no_proxy=*",
    ]);
    await makeImage(hiding, ["VOLUME /opt"]);
    const images = ["--docker-image", image, "--docker-image", hiding];
    server = await startDockerServer({ args: [...images, "--pool", "0", ...args] });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
    await docker("rmi", "--force", image, hiding);
  });

  test("an image's health check does not run: code would be root in it", async () => {
    await using sandbox = await client.sandboxes.create({ template: image });
    const plant = "mkdir -p ~/.local/bin; cd ~/.local/bin; echo 'id -u >/tmp/uid' >checked; chmod +x checked";
    await sandbox.commands.run(`${plant}; sleep 3`);
    expect(await sandbox.files.exists("/tmp/uid")).toBe(false);
  });

  test("an image's volumes are as read-only as the rest of it, and not kept", async () => {
    await using sandbox = await client.sandboxes.create({ template: image });
    const volumes = await volumesOf(image);
    const touch = "touch /var/tmp/made /tmp/made ~/made; stat -c %a /var/tmp";
    const { stdout, stderr } = await sandbox.commands.run(touch);
    expect(stderr).toBe("touch: cannot touch '/var/tmp/made': Read-only file system\n");
    // Those of gVisor are empty.
    if (runtime !== "gVisor") expect(stdout).toBe("1777\n");
    if (runtime !== "gVisor") expect(volumes).not.toEqual([]);
    await sandbox.files.write("/workspace/note", "kept");
    await sandbox.stop();
    await sandbox.start();
    expect(await sandbox.files.readText("/workspace/note")).toBe("kept");
    await sandbox.delete();
    const left = (await docker("volume", "ls", "--quiet")).split("\n");
    expect(left.filter((name) => volumes.includes(name))).toEqual([]);
  });

  test("an image's proxy is not that of its sandboxes, which could not reach it", async () => {
    await using sandbox = await client.sandboxes.create({ template: image });
    const show = "echo $HTTP_PROXY; test $NO_PROXY = $no_proxy && echo same";
    expect((await sandbox.commands.run(show)).stdout).toBe("http://127.0.0.1:3128\nsame\n");
  });

  test("an image whose volume hides what sandboxes need is refused", async () => {
    const { sandboxes } = client;
    await expect(sandboxes.create({ template: hiding })).rejects.toThrow(/"VOLUME \/opt" hides files/);
  });
});

/** Makes an image of that of the tests, with settings of its own. */
async function makeImage(image: string, changes: readonly string[]): Promise<void> {
  const { CLOUD_SANDBOX_DOCKER_IMAGE: base = "" } = dockerEnvironment();
  const id = await docker("create", base, "true");
  await docker("commit", ...changes.flatMap((change) => ["--change", change]), id, image);
  await docker("rm", id);
}

/** The volumes of an image's containers. Other tests have some with the same daemon. */
async function volumesOf(image: string): Promise<string[]> {
  const containers = await docker("ps", "--all", "--quiet", "--filter", `ancestor=${image}`);
  const format = `{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name}}{{end}}{{end}}`;
  const names = await docker("inspect", "--format", format, ...containers.split("\n"));
  return names.split("\n").filter((name) => name !== "");
}

async function docker(...args: readonly string[]): Promise<string> {
  const host = dockerEnvironment().DOCKER_HOST ?? "";
  return (await promisify(execFile)("docker", ["--host", host, ...args])).stdout.trim();
}
