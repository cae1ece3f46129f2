import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";

/** Shows a picture with words. The names are those of Debian's packages, without the links of its alternatives. */
const font = "-font /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf -pointsize 40";
const picture = `convert-im6.q16 ${font} 'label:Accept the terms' words.png && exec display-im6.q16 -title picture words.png`;

/** What a sandbox with a desktop does, whatever runtime it has. */
export function desktopStatements(
  start: () => Promise<LocalServer>,
  { lacksTerminals = false }: { readonly lacksTerminals?: boolean } = {},
): void {
  let server: LocalServer;
  let client: SandboxClient;
  let sandbox: Sandbox;

  beforeAll(async () => {
    server = await start();
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    sandbox = await client.sandboxes.create({ template: "desktop" });
  });
  afterAll(async () => {
    await sandbox?.delete();
    await client?.close();
    await server?.stop();
  });

  test("says that it has a desktop, and others that they have none", async () => {
    expect((await sandbox.system.health()).features).toMatchObject({ desktop: true });
    await using plain = await client.sandboxes.create({ template: "base" });
    expect((await plain.system.health()).features).toMatchObject({ desktop: false });
    await expect(plain.desktop.screenshot()).rejects.toMatchObject({ code: "DESKTOP_NOT_AVAILABLE" });
  });

  test("is seen and used", async () => {
    const { desktop } = sandbox;
    const empty = await desktop.screenshot();
    expect(await desktop.display()).toEqual({ width: 1280, height: 800, depth: 24 });
    const program = lacksTerminals ? picture : "xterm -title picture -fn fixed -e 'cat > typed.txt'";
    await sandbox.commands.runBackground(program);
    await expect
      .poll(async () => (await desktop.windows.list()).map(({ title, focused }) => ({ title, focused })))
      .toEqual([{ title: "picture", focused: true }]);
    if (!lacksTerminals) {
      await expect.poll(() => sandbox.files.exists("typed.txt")).toBe(true);
      await desktop.keyboard.type("Übung 你好\n");
      await expect.poll(() => sandbox.files.readText("typed.txt")).toBe("Übung 你好\n");
    }
    await desktop.mouse.click({ x: 700, y: 500 });
    expect((await sandbox.commands.run("xdotool getmouselocation")).stdout).toMatch(/^x:700 y:500 /);
    expect((await desktop.screenshot()).bytes).not.toEqual(empty.bytes);
    await desktop.setClipboard("text");
    expect(await desktop.clipboard()).toBe("text");
    expect((await sandbox.commands.run("xclip -selection clipboard -o")).stdout).toBe("text");
  });

  test("is not seen by another sandbox", async () => {
    const { display = 0 } = (await sandbox.agent.GET("/desktop/display")).data ?? {};
    await using other = await client.sandboxes.create({ template: "code-interpreter" });
    const { stdout, exitCode } = await other.execute(`
import socket
socket_of_x = "/tmp/.X11-unix/X${display}"
for address in (socket_of_x, "\\0" + socket_of_x, ("127.0.0.1", ${6000 + Number(display)})):
    try:
        socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX).connect(address)
        print("connected to", address)
    except OSError:
        pass`);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 0 });
  });

  test("records and reads what is on the screen", { tags: ["ffmpeg", "tesseract-ocr"] }, async () => {
    const { recording, text } = sandbox.desktop;
    const { id } = await recording.start();
    await sandbox.commands.runBackground(picture);
    expect(await text.waitFor("the terms", { timeoutSeconds: 60 })).toMatchObject({
      text: expect.stringMatching(/^the terms/),
    });
    expect(await recording.stop(id)).toMatchObject({ status: "stopped", size: expect.any(Number) });
    expect((await recording.download(id)).length).toBeGreaterThan(1000);
  });

  test("has a link to a live view, which ends when it is stopped", { tags: ["novnc"] }, async () => {
    const { vnc } = sandbox.desktop;
    const view = await vnc.start({ viewOnly: true });
    expect(view.url).toMatch(
      new RegExp(`^${server.url}/preview/${sandbox.id}/6080/vnc\\.html#key=[\\w-]{32}&view_only$`),
    );
    const page = await fetch(view.url ?? "");
    expect(await page.text()).toContain("<title>Desktop of a sandbox</title>");
    expect((await fetch(new URL("core/rfb.js", view.url))).status).toBe(200);
    for (const path of ["core/../../../../etc/passwd", "core/none.js", "devtools/none"])
      expect((await fetch(new URL(path, view.url))).status).toBe(404);
    expect(await vnc.stop()).toMatchObject({ running: false, url: undefined });
  });
}
