import { execFile } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, plainText } from "../../packages/mcp/test/support/mcp-connection.js";
import { dockerEnvironment, withoutDocker } from "../support/docker/docker-server.js";
import { ordinaryUid } from "../support/ordinary-user-caches.js";

const run = promisify(execFile);
const image = "cloud-sandbox-profiles:1";
/** The limits of the container, as its own control group shows them: bytes of memory, and microseconds of CPU in each 100,000. */
const limits = `cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes memory.max cpu/cpu.cfs_quota_us cpu.max 2>/dev/null`;
const mebibyte = 2 ** 20;

const obstacle = withoutDocker();
if (obstacle !== undefined) test("MCP profiles with containers", ({ skip }) => skip(obstacle));
else
  describe("with containers,", () => {
    const { DOCKER_HOST = "", CLOUD_SANDBOX_DOCKER_IMAGE: base = "" } = dockerEnvironment();
    const docker = (...args: readonly string[]) => run("docker", ["--host", DOCKER_HOST, ...args]);
    let directory: string;
    const start = (profile: string, environment: Record<string, string>) =>
      connect({
        ...{ DOCKER_HOST, CLOUD_SANDBOX_DOCKER_IMAGE: `${base},${image}` },
        ...{ CLOUD_SANDBOX_RUNTIME: "docker", CLOUD_SANDBOX_MCP_PROFILE: profile },
        ...environment,
      });

    beforeAll(async () => {
      const id = (await docker("create", base, "true")).stdout.trim();
      await docker("commit", "--change", "ENV IMAGE_MARK=of-the-image", id, image);
      await docker("rm", id);
      directory = await mkdtemp(join(tmpdir(), "docker-profiles-"));
      await mkdir(join(directory, "sub"));
      await writeFile(join(directory, "sub/file"), "of the host");
      await chown(directory, ordinaryUid, ordinaryUid);
    });
    afterAll(async () => {
      await docker("rmi", "--force", image);
      await rm(directory, { recursive: true });
    });

    test("the profile microsandbox gives a sandbox its image, limits, variables, ports and volumes", async () => {
      const blocker = createServer().listen(0, "127.0.0.1");
      await once(blocker, "listening");
      const { port } = blocker.address() as AddressInfo;
      blocker.close();
      const mcp = await start("microsandbox", { CLOUD_SANDBOX_ALLOW_MOUNT: directory });
      try {
        const inside = async (sandbox: string, command: string): Promise<string> => {
          const said = await mcp.result("sandbox_run_command", {
            ...{ sandbox, namespace: "own", command: "sh", args: ["-c", command] },
          });
          return (said.output as { text: string }[]).map(({ text }) => text).join("\n");
        };
        const begin = (sandbox: string, config: object): Promise<unknown> =>
          mcp.result("sandbox_start", { sandbox, namespace: "own", config: { image, ...config } });
        await begin("small", { memory: 256, cpus: 1 });
        await begin("large", {
          memory: 512,
          envs: ["MARK=of-the-call"],
          ports: [`${port}:8000`],
          volumes: [`${directory}:/data`, `${directory}/sub:/mnt/sub:ro`],
        });
        const [small = 0, quota = 0] = (await inside("small", limits)).split(/\s+/).map(Number);
        expect(quota).toBe(100_000);
        const [large = 0] = (await inside("large", limits)).split(/\s+/).map(Number);
        expect(large - small).toBe(256 * mebibyte);
        expect(await inside("large", "echo $IMAGE_MARK $MARK")).toBe("of-the-image of-the-call");
        expect(await inside("large", "cat /data/sub/file; echo written > /data/made")).toBe("of the host");
        expect(await inside("large", "touch /mnt/sub/made 2>&1")).toContain("Read-only file system");
        expect(await readFile(join(directory, "made"), "utf8")).toBe("written\n");
        expect((await stat(join(directory, "made"))).uid).toBe(ordinaryUid);
        await inside("large", "cd /data/sub; python3 -m http.server 8000 >/dev/null 2>&1 &");
        const page = () => fetch(`http://127.0.0.1:${port}/file`).then((answer) => answer.text());
        await expect.poll(() => page().catch(() => "")).toBe("of the host");
      } finally {
        await mcp.client.close();
      }
    });

    test("the profile codemode gives its sandboxes SANDBOX_IMAGE and their limits", async () => {
      const settings = { SANDBOX_IMAGE: image, CONTAINER_CPU_LIMIT: "0.5", POOL_SIZE: "0" };
      const memory: number[] = [];
      for (const size of ["256m", "512m"]) {
        const mcp = await start("codemode", { ...settings, CONTAINER_MEMORY_LIMIT: size });
        try {
          const code = `import os, subprocess
print(os.environ["IMAGE_MARK"], subprocess.run(["sh", "-c", ${JSON.stringify(limits)}], capture_output=True, text=True).stdout)`;
          const said = await plainText(mcp, "execute_code", { code });
          const [, bytes, quota] = /of-the-image (\d+)\s+(\d+)/.exec(said) ?? [said];
          expect(Number(quota)).toBe(50_000);
          memory.push(Number(bytes));
        } finally {
          await mcp.client.close();
        }
      }
      const [small = 0, large = 0] = memory;
      expect(large - small).toBe(256 * mebibyte);
    });
  });
