import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxClient, Template, type TransferProgress } from "cloud-sandbox";
import { beforeAll, expect, test } from "vitest";
import { describeForBothUsers } from "../support/both-users.js";
import { cannotMakeImage, hostImage } from "../support/host-image.js";
import { startLocalServer } from "../support/local-server.js";

const obstacle = cannotMakeImage();
let image: Buffer;
beforeAll(async () => {
  if (obstacle === undefined) image = await hostImage("made:1");
});

const data = (place: string) => join(place, "data");
const args = (place: string) => ["--pool", "0", "--data-dir", data(place)];

describeForBothUsers("an imported image, on a server that %s started", { args }, (on) => {
  const layers = () => readdir(join(data(on.place), "layers")).catch(() => []);
  if (obstacle !== undefined) {
    test("has what images are made of", ({ skip }) => skip(obstacle));
    return;
  }

  test("is a template whose sandboxes have the image's programs and none of this machine", {
    timeout: 60_000,
  }, async () => {
    const { client, place } = on;
    const file = join(place, "image.tar");
    await writeFile(file, image, { mode: 0o644 });
    const told: TransferProgress[] = [];
    const made = await client.templates.import(file, { onProgress: (progress) => told.push(progress) });
    expect(made).toMatchObject({ name: "made:1", status: "active" });
    expect(made.features).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^python 3\./),
        expect.stringMatching(/^bash /),
        "made 7",
      ]),
    );
    expect(made.features.join()).not.toMatch(/javascript|numpy/);
    expect(made.differences).toEqual(["The image's entrypoint and command are not started."]);
    expect(told.at(-1)).toEqual({ bytes: image.length, total: image.length });
    await expect(client.templates.import(file)).rejects.toMatchObject({ name: "ConflictError" });

    await using sandbox = await client.sandboxes.create({ template: "made:1" });
    const bash = async (code: string) => (await sandbox.execute(code, { language: "bash" })).stdout;
    expect(
      await bash(
        "made; pwd; echo $MADE_OF $SHELL; cat /workspace/from-image; ls -d /app /unwanted 2>/dev/null",
      ),
    ).toBe("of the image\n/app\nhost /bin/bash\nkept/app\n");
    expect((await bash("ls /usr/bin")).split("\n")).not.toContain("perl");
    expect(
      await bash(
        "cat /etc/ld.so.preload; id -un; mkdir /usr/own && touch /usr/bin/own /etc/own && echo written",
      ),
    ).toBe("sandbox\nwritten\n");
    const run = await sandbox.execute("import json, sys; x = 41; print(sys.version_info[0])", {
      language: "python",
    });
    expect(run.stdout).toBe("3\n");
    await expect(sandbox.execute("1", { language: "javascript" })).rejects.toMatchObject({
      code: "LANGUAGE_NOT_AVAILABLE",
    });
    await sandbox.files.write("/workspace/kept.txt", "kept too");
    await sandbox.pause();
    await sandbox.resume();
    await sandbox.stop();
    await sandbox.start();
    expect(await sandbox.files.readText("/workspace/kept.txt")).toBe("kept too");
    expect(await bash("ls /usr/bin/own /etc/own")).toBe("/etc/own\n/usr/bin/own\n");
    expect((await sandbox.commands.run("echo $MADE_OF")).stdout).toBe("host\n");
  });

  test("can be built upon, and is deleted with its files", { timeout: 60_000 }, async () => {
    const { client } = on;
    const template = Template.from("made:1")
      .env({ MORE: "more" })
      .run("echo $MADE_OF $MORE > /opt/tools/text");
    await client.templates.build(template, { name: "upon", cpu: 1, memoryMb: 512, diskGb: 1 });
    const sandbox = await client.sandboxes.create({ template: "upon" });
    expect((await sandbox.commands.run("cat /opt/tools/text; made; ls /usr/bin/python3")).stdout).toBe(
      "host more\nof the image\n/usr/bin/python3\n",
    );
    await sandbox.delete();
    for (const name of ["upon", "made:1"]) await client.templates.delete(name);
    await expect.poll(layers).toEqual([]);
  });

  test("leaves nothing when it is refused, also while it is still being sent", async () => {
    const { client } = on;
    const endless = Readable.from(
      (async function* () {
        for (let sent = 0; sent < 64; sent += 1) yield Buffer.alloc(2 ** 20, "not a tar ");
      })(),
    );
    await expect(client.templates.import(endless, { name: "bad" })).rejects.toMatchObject({
      name: "ValidationError",
      message: expect.stringContaining("not a tar"),
    });
    const cut = client.templates.import(image.subarray(0, image.length / 2), { name: "bad" });
    await expect(cut).rejects.toMatchObject({ message: expect.stringContaining("damaged") });
    expect(await layers()).toEqual([]);
  });

  test("leaves nothing when it is cancelled", async () => {
    const stop = new AbortController();
    const importing = on.client.templates.import(slowly(image), { name: "bad", signal: stop.signal });
    await expect.poll(layers).toHaveLength(1);
    stop.abort();
    await expect(importing).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(layers).toEqual([]);
    await expect(on.client.templates.get("bad")).rejects.toMatchObject({ name: "NotFoundError" });
  });

  test("leaves nothing when the server is killed", { timeout: 60_000 }, async () => {
    const place = join(on.place, "killed");
    const settings = { who: on.who, args: args(place) };
    const server = await startLocalServer(settings);
    const headers = { "x-api-key": server.apiKey, "content-type": "application/x-tar" };
    const sending = request(`${server.url}/v1/templates/import?name=bad`, { method: "POST", headers });
    const broken = once(sending, "error");
    sending.write(image.subarray(0, image.length / 2));
    const left = () => readdir(join(data(place), "layers")).catch(() => []);
    await expect.poll(left).toHaveLength(1);
    await server.stop("SIGKILL");
    await broken;
    const next = await startLocalServer(settings);
    expect(await left()).toEqual([]);
    const client = new SandboxClient({ apiKey: next.apiKey, baseUrl: next.url });
    await expect(client.templates.get("bad")).rejects.toMatchObject({ name: "NotFoundError" });
    await client.close();
    await next.stop();
  });
});

/** Sends the beginning, and then nothing for longer than a test lasts. */
async function* slowly(content: Buffer): AsyncGenerator<Buffer> {
  yield content.subarray(0, content.length / 2);
  await sleep(60_000, undefined, { ref: false });
}
