import { SandboxClient } from "cloud-sandbox";
import { expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";
import { startNodeRegistry } from "../support/docker/node-registry.js";
import { asMacos } from "../support/macos/as-macos.js";

const obstacle = withoutDocker();

test("without Docker, doctor on macOS says what to start, and the command can be loaded", async () => {
  const env = { ...asMacos, DOCKER_HOST: "unix:///nowhere/docker.sock" };
  const { code, stdout } = await runBuilt("local", ["doctor"], { env });
  expect(code).toBe(1);
  expect(stdout).toContain("✗ bubblewrap: bubblewrap needs Linux");
  expect(stdout).toContain("✗ docker: no Docker daemon answers");
  expect(await runBuilt("cli", ["--version"], { env })).toMatchObject({ code: 0, stderr: "" });
  const made = await runBuilt("cli", ["run", "--language", "bash", "-c", "true"], { env });
  expect(made.stderr).toMatch(/start Docker/);
});

if (obstacle !== undefined) test("the docker runtime on macOS", ({ skip }) => skip(obstacle));
else {
  test("on macOS, auto takes docker, and npm fetches the Node.js of the agent", {
    timeout: 180_000,
  }, async () => {
    await using registry = await startNodeRegistry();
    const server = await startDockerServer({
      env: { ...asMacos, ...registry.env },
      args: ["--runtime", "auto", "--pool", "0"],
    });
    try {
      await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      await using sandbox = await client.sandboxes.create({ template: "base", requestTimeoutSeconds: 170 });
      const { stdout } = await sandbox.execute("id -u; tr '\\0' ' ' </proc/1/cmdline", { language: "bash" });
      expect(stdout).toMatch(/^1000\n.*\/usr\/bin\/setpriv .*\/opt\/cloud-sandbox\/bin\/node/);
    } finally {
      await server.stop();
    }
  });
}
