import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { startLocalServer } from "../support/local-server.js";

test("a kernel without memory for filters is named to who creates a sandbox, and by the health, until it has some", async () => {
  const directory = await mkdtemp(join(tmpdir(), "host-trouble-"));
  // The servers' sandboxes have uids of their own.
  await chmod(directory, 0o755);
  const [program, full] = [join(directory, "bwrap"), join(directory, "full")];
  // What bubblewrap says then, and what it does otherwise.
  const lines = [
    "#!/bin/sh",
    `[ -e ${full} ] && echo "bwrap: prctl(PR_SET_SECCOMP): Unknown error 524" >&2 && exit 1`,
    `PATH="\${PATH#*:}" exec bwrap "$@"`,
  ];
  await writeFile(program, `${lines.join("\n")}\n`);
  await chmod(program, 0o755);
  const server = await startLocalServer({
    args: ["--pool", "0"],
    env: { PATH: `${directory}:${process.env.PATH}` },
  });
  try {
    const api = new ControlPlaneCaller(server);
    const health = async () => (await fetch(`${server.url}/health`)).json();
    expect(await health()).toMatchObject({ status: "healthy" });
    await writeFile(full, "");
    const advice = expect.stringMatching(
      /No sandbox (could|can) be started: .*filters of system calls.*sysctl -w/,
    );
    const refused = await api.call("POST", "/sandboxes", { template_name: "base" });
    expect(refused).toMatchObject({ status: 503, body: { code: "RUNTIME_UNAVAILABLE", message: advice } });
    expect(await health()).toMatchObject({ status: "degraded", message: advice });
    await rm(full);
    const { id } = await api.create();
    expect(await health()).toMatchObject({ status: "healthy" });
    await api.call("DELETE", `/sandboxes/${id}`);
  } finally {
    await server.stop();
    await rm(directory, { recursive: true });
  }
});
