import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { dockerEnvironment, withoutDocker } from "../support/docker/docker-server.js";
import { root } from "../support/documents/code-blocks.js";

test("the demo runs in containers where bubblewrap may start no sandbox", async ({ skip }) => {
  const obstacle = withoutDocker();
  if (obstacle !== undefined) return skip(obstacle);
  const directory = await mkdtemp(join(tmpdir(), "demo-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const bwrap = join(directory, "bwrap");
  // As on Ubuntu 24.04, which forbids user namespaces.
  await writeFile(
    bwrap,
    '#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap 0.8.0" && exit\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n',
  );
  await chmod(bwrap, 0o755);
  const env = { ...process.env, ...dockerEnvironment(), PATH: `${directory}:${process.env.PATH}` };
  const demo = await promisify(execFile)(process.execPath, [join(root, "scripts/bootstrap.mjs"), "demo"], {
    env,
  });
  expect(demo.stdout).toMatch(/isolation "container"/);
  expect(demo.stdout).toMatch(/3 of 4 ran; their sandboxes are gone\.\n$/);
});
