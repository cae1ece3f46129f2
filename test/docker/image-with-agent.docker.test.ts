import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, inject, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { withoutDocker } from "../support/docker/docker-server.js";
import { codeBlocks } from "../support/documents/code-blocks.js";

const agent = "registry.example/cloud-sandbox-agent:1";
const made = "with-agent:1";
const obstacle = withoutDocker();

test("the guide's Dockerfile makes an image for Pods that has the agent", async ({ skip }) => {
  if (obstacle !== undefined) skip(obstacle);
  const daemon = inject("docker");
  if ("missing" in daemon) throw new Error(daemon.missing);
  const docker = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)("docker", ["--host", daemon.host, ...args])).stdout;
  const directory = await mkdtemp(join(tmpdir(), "image-with-agent-"));
  onTestFinished(async () => {
    await docker("rmi", "--force", made, agent);
    await rm(directory, { recursive: true });
  });
  const archive = join(directory, "agent.tar");
  expect(await runBuilt("local", ["agent-image", archive, "--name", agent])).toMatchObject({ code: 0 });
  await docker("load", "--input", archive);

  const [{ code = "" } = {}, ...others] = codeBlocks().filter(({ language }) => language === "dockerfile");
  expect(others).toEqual([]);
  // Tests reach no registry.
  const dockerfile = code.replace("python:3.12-slim", daemon.image);
  const options = ["--host", daemon.host, "build", "--network", "none", "--tag", made, "-"];
  const build = spawn("docker", options, { stdio: ["pipe", "ignore", "pipe"] });
  build.stdin.end(dockerfile);
  const said = text(build.stderr);
  const [exit] = await once(build, "exit");
  expect([exit, exit === 0 ? "" : await said]).toEqual([0, ""]);

  const place = "/opt/cloud-sandbox";
  const node = `${place}/loader --library-path ${place}/lib ${place}/bin/node -p 6*7`;
  const inside = ["run", "--rm", "--network", "none", "--user", "1000", made, "sh", "-c", `id -un; ${node}`];
  expect(await docker(...inside)).toBe("sandbox\n42\n");
});
