import { expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { startLocalServer } from "../support/local-server.js";
import { PathWithoutOverlay } from "../support/without-overlay.js";

const args = () => ["--pool", "0", "--disk-mb", "64"];

describeForBothUsers("what is stopped on a server started by %s", { args }, (on) => {
  const restarted = async (id: string): Promise<void> => {
    expect(await on.api.told("POST", `/sandboxes/${id}/stop`)).toBe("200 stopped");
    expect(await on.api.told("POST", `/sandboxes/${id}/start`)).toBe("200 running");
  };

  test("has all files that were changed anywhere, however often it is stopped and started", async () => {
    const { api } = on;
    const sandbox = await api.create({ env_vars: { SETTING: "set" } });
    const changes = `set -e
mkdir -p /data/private /usr/local/lib/tool && echo made > /data/private/file && chmod 700 /data/private && chmod 600 /data/private/file
echo tool > /usr/local/lib/tool/module && ln -s module /usr/local/lib/tool/link && ln /usr/local/lib/tool/module /usr/local/lib/tool/same
echo 127.0.0.1 example.test >> /etc/hosts
rm -rf /usr/local/bin && mkdir /usr/local/bin && printf '#!/bin/sh\\necho works\\n' > /usr/local/bin/own && chmod 755 /usr/local/bin/own
echo t > /tmp/t; echo h > ~/h; echo w > /workspace/w; truncate -s 1G /workspace/sparse
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/tmp/socket")'`;
    expect((await api.run(sandbox, changes)).body).toMatchObject({ stderr: "", exit_code: 0 });
    const look = `cat /data/private/file /usr/local/lib/tool/link /tmp/t ~/h /workspace/w; tail -1 /etc/hosts
stat -c %a /data/private /data/private/file; stat -c %h /usr/local/lib/tool/module; ls /usr/local/bin; own; echo $SETTING
df --output=size -BM /workspace | tail -1; du -k /workspace/sparse`;
    const before = (await api.run(sandbox, look)).body;
    expect(before.stdout).toMatch(
      /^made\ntool\nt\nh\nw\n127.0.0.1 example.test\n700\n600\n2\nown\nworks\nset\n/,
    );
    for (let time = 0; time < 2; time += 1) {
      await restarted(sandbox.id);
      expect((await api.run(sandbox, look)).body).toMatchObject({ stdout: before.stdout, stderr: "" });
    }
    const writable =
      "echo more >> /data/private/file && echo more >> /usr/local/lib/tool/module && rm -r /data";
    expect((await api.run(sandbox, writable)).body).toMatchObject({ stderr: "", exit_code: 0 });
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("stays on the layers of its template when that is gone", async () => {
    const { api } = on;
    const steps = [
      { type: "RUN", args: ["mkdir /opt/a && echo built > /opt/a/f && echo copied > /workspace/c"] },
    ];
    const built = await on.templates.build({ name: "passing", steps });
    expect(built.status).toBe("active");
    const sandbox = await api.create({ template_name: "passing" });
    await api.run(sandbox, "rm /workspace/c; echo own > /opt/a/own");
    await api.told("POST", `/sandboxes/${sandbox.id}/stop`);
    await api.call("DELETE", "/templates/passing");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
    const { body } = await api.run(sandbox, "cat /opt/a/f /opt/a/own; ls /workspace");
    expect(body.stdout).toBe("built\nown\n");
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
  });

  test("is stopped with a full disk, too, and has no more room than before", async () => {
    const { api } = on;
    const sandbox = await api.create();
    await api.run(sandbox, "dd if=/dev/urandom of=/data bs=1M count=100; stat -c %s /data > /dev/shm/x");
    await restarted(sandbox.id);
    const { body } = await api.run(
      sandbox,
      "stat -c %s /data; df --output=avail /data | tail -1; echo x > /more",
    );
    expect(Number(String(body.stdout).split("\n")[0])).toBeGreaterThan(60 * 1024 * 1024);
    expect(body.stderr).toContain("No space left");
    await api.call("DELETE", `/sandboxes/${sandbox.id}`);
  });
});

test.each([63, 500, 1000])("a sandbox with a disk of %i MiB starts again after a stop", async (megabytes) => {
  const server = await startLocalServer({ args: ["--pool", "0", "--disk-mb", String(megabytes)] });
  const api = new ControlPlaneCaller(server);
  try {
    const sandbox = await api.create();
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("200 stopped");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
  } finally {
    await server.stop();
  }
});

test("where the kernel allows no overlays, a stopped sandbox keeps the files in its writable directories", async () => {
  await using without = await PathWithoutOverlay.make();
  const server = await startLocalServer({ args: ["--pool", "0"], env: { PATH: without.path } });
  const api = new ControlPlaneCaller(server);
  try {
    const sandbox = await api.create({ env_vars: { SETTING: "set" } });
    await api.run(sandbox, "echo t > /tmp/t; echo h > ~/h; echo w > /workspace/w");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/stop`)).toBe("200 stopped");
    expect(await api.told("POST", `/sandboxes/${sandbox.id}/start`)).toBe("200 running");
    const { body } = await api.run(sandbox, "cat /tmp/t ~/h /workspace/w; echo $SETTING; echo x > /etc/x");
    expect(body.stdout).toBe("t\nh\nw\nset\n");
    expect(body.stderr).toContain("Read-only");
  } finally {
    await server.stop();
  }
});
