import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { expect, test } from "vitest";
import { startDockerServer, withoutDocker } from "../support/docker/docker-server.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const obstacle = withoutDocker();

const make =
  "echo w > /workspace/w; ln /workspace/w /workspace/hard; ln -s w /workspace/link; echo t > /tmp/t; echo h > ~/h; chmod 750 ~/h";
const tell =
  "cat /workspace/link /tmp/t ~/h; stat -c %a ~/h; stat -c '%h %n' /workspace/hard; readlink /workspace/link; echo $KEPT";
const told = "w\nt\nh\n750\n2 /workspace/hard\nw\nyes\n";

/** Makes a snapshot on one server, and uses it on the next one, which has the same directory of data. */
async function kept(
  start: (args: readonly string[]) => Promise<LocalServer>,
  next: (args: readonly string[]) => Promise<LocalServer>,
  use: (client: SandboxClient, snapshot: string) => Promise<void>,
  more = "true",
): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), "snapshots-"));
  const args = ["--pool", "0", "--data-dir", data];
  let name = "";
  const steps = [
    async (client: SandboxClient) => {
      await using sandbox = await client.sandboxes.create({ template: "base" });
      expect((await sandbox.commands.run(`${make}; ${more}`)).stderr).toBe("");
      await sandbox.env.set("KEPT", "yes");
      name = (await sandbox.snapshot()).id;
    },
    (client: SandboxClient) => use(client, name),
  ];
  try {
    for (const [index, step] of steps.entries()) {
      const server = await (index === 0 ? start : next)(args);
      try {
        await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
        await step(client);
      } finally {
        await server.stop();
      }
    }
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

const onDocker = (args: readonly string[]) => startDockerServer({ args });
const onBubblewrap = (args: readonly string[]) => startLocalServer({ args });

test("a sandbox of bubblewrap begins with a snapshot of a container", async ({ skip }) => {
  skip(obstacle !== undefined, obstacle);
  await kept(onDocker, onBubblewrap, async (client, snapshot) => {
    await using sandbox = await client.sandboxes.create({ snapshot });
    const { stdout } = await sandbox.commands.run(tell);
    expect(stdout).toBe(told);
    await sandbox.restore(snapshot);
    expect(await sandbox.files.readText("/workspace/w")).toBe("w\n");
  });
});

test("a container begins with the files of a snapshot of bubblewrap", async ({ skip }) => {
  skip(obstacle !== undefined, obstacle);
  await kept(onBubblewrap, onDocker, async (client, snapshot) => {
    await using sandbox = await client.sandboxes.create({ snapshot });
    const { stdout } = await sandbox.commands.run(tell);
    expect(stdout).toBe(told);
    await expect(sandbox.restore(snapshot)).rejects.toMatchObject({
      summary: expect.stringMatching(/is a whole disk of the runtime bubblewrap, and this server has docker/),
    });
    expect(await sandbox.files.readText("/workspace/w")).toBe("w\n");
  });
});

test("a container begins without changes to the system of bubblewrap, if that is asked for", async ({
  skip,
}) => {
  skip(obstacle !== undefined, obstacle);
  const change =
    "echo tool > /usr/local/bin/tool; rm /usr/bin/tac; for i in 1 2 3 4 5 6; do echo > /opt/$i; done";
  await kept(
    onBubblewrap,
    onDocker,
    async (client, snapshot) => {
      await expect(client.sandboxes.create({ snapshot })).rejects.toMatchObject({
        code: "CONFLICT",
        summary: expect.stringMatching(
          /is a whole disk of the runtime bubblewrap, and this server has docker/,
        ),
        hint: expect.stringMatching(/files_only: (\/[\w/]+, ){5}and 3 more/),
      });
      for await (const { id } of client.sandboxes.list()) expect(id).toBe("no sandbox");
      await using sandbox = await client.sandboxes.create({ snapshot, filesOnly: true });
      const { stdout } = await sandbox.commands.run(`${tell}; ls /opt/1`);
      expect(stdout).toBe(told);
    },
    change,
  );
});
