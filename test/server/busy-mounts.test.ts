import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";

/** Mounts and unmounts as fast as this machine can: Python makes the calls without a process for each. */
const mountingProgram = `
import ctypes, os, sys
libc = ctypes.CDLL(None)
paths = [os.path.join(sys.argv[1], str(number)).encode() for number in range(40)]
for path in paths: os.makedirs(path, exist_ok=True)
while True:
    for path in paths: libc.mount(b"none", path, b"tmpfs", 0, None)
    for path in paths: libc.umount2(path, 2)
`;
const rounds = 8;

test("sandboxes can be started while file systems of the machine come and go", {
  tags: ["mount"],
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "busy-mounts-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  // bubblewrap leaves out what its user may not reach.
  chmodSync(directory, 0o755);
  const whileMounting = `python3 -c '${mountingProgram}' ${directory} & mounting=$!; "$@"; code=$?; kill $mounting; exit $code`;
  // Shared, so that a file system that is unmounted goes from the namespace of a trial too.
  const through = ["unshare", "--mount", "--propagation", "shared", "sh", "-c", whileMounting, "sh"];
  for (let round = 0; round < rounds; round += 1) {
    // A home without what an earlier trial has found out.
    const env = { HOME: mkdtempSync(join(directory, "home-")), DOCKER_HOST: "unix:///nowhere/docker.sock" };
    const { stdout } = await runBuilt("local", ["doctor"], { env, through });
    expect(stdout).toContain("Sandboxes can be started here.");
  }
});
