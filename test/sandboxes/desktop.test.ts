// @module-tag tigervnc-standalone-server
// @module-tag openbox
// @module-tag xdotool
// @module-tag wmctrl
// @module-tag xclip
// @module-tag imagemagick
// @module-tag x11-utils
// @module-tag x11-xserver-utils
// @module-tag xfonts-base
// @module-tag xterm
import { SandboxClient } from "cloud-sandbox";
import { describe, expect, test } from "vitest";
import { cannotStartAs, type StartedBy, startLocalServer } from "../support/local-server.js";
import { desktopStatements } from "./desktop-statements.js";

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

describe.each(startedBy)("a desktop in a sandbox of %s", (who) => {
  if (cannotStartAs(who) === undefined)
    desktopStatements(() => startLocalServer({ who, args: ["--pool", "0"] }));
});

test("a desktop says that the disk is full, and goes on when it is not", { tags: ["ffmpeg"] }, async () => {
  const server = await startLocalServer({ args: ["--pool", "0", "--disk-mb", "64"] });
  try {
    await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    await using sandbox = await client.sandboxes.create({ template: "desktop" });
    const { desktop } = sandbox;
    const { recording } = desktop;
    const { id } = await recording.start();
    // Of a screen on which nothing moves, too little is written.
    const moving = await sandbox.commands.runBackground("xterm -fn fixed -e base64 /dev/urandom");
    await sandbox.commands.run("head -c 100M /dev/zero > fill");
    await expect
      .poll(() => recording.status(id), { timeout: 60_000 })
      .toMatchObject({ status: "failed", error: "the disk is full" });
    await expect(recording.start()).rejects.toThrow(/the disk is full/);
    await expect(desktop.screenshot()).rejects.toThrow(/[Tt]he disk of the sandbox is full/);
    await moving.kill();
    await sandbox.files.remove("fill");
    expect((await desktop.screenshot()).bytes.length).toBeGreaterThan(0);
    const next = await recording.start();
    expect(await recording.stop(next.id)).toMatchObject({ status: "stopped", error: undefined });
  } finally {
    await server.stop();
  }
});
