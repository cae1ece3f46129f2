// @module-tag chromium
// @module-tag tigervnc-standalone-server
// @module-tag openbox
// @module-tag xdotool
// @module-tag wmctrl
// @module-tag xclip
// @module-tag imagemagick
// @module-tag x11-utils
// @module-tag x11-xserver-utils
// @module-tag xfonts-base
// @module-tag novnc
// @module-tag xterm
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { type Browser, chromium, type Page } from "playwright-core";
import { WebSocket } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

let server: LocalServer;
let client: SandboxClient;
let sandbox: Sandbox;
let browser: Browser;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  sandbox = await client.sandboxes.create({ template: "desktop" });
  await sandbox.desktop.display();
  await sandbox.commands.runBackground(
    "xterm -title t -fa Monospace -fs 14 -geometry 80x25+0+0 -e 'cat > typed'",
  );
  await vi.waitUntil(() => sandbox.files.exists("typed"), 30_000);
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await client?.close();
  await server?.stop();
});

const typed = () => sandbox.files.readText("typed");
const open = async (url = ""): Promise<Page> => {
  const page = await browser.newPage();
  await page.goto(url);
  return page;
};
const isOpen = (page: Page) => expect.poll(() => page.locator("#message").isHidden()).toBe(true);
const says = (page: Page, text: RegExp) =>
  expect.poll(() => page.locator("#message").textContent()).toMatch(text);
const write = async (page: Page, text: string): Promise<void> => {
  await page.mouse.click(300, 200);
  await page.keyboard.type(`${text}\n`, { delay: 50 });
};

describe("a live view", () => {
  test("shows the desktop, and passes mouse and keys on", async () => {
    const { url } = await sandbox.desktop.vnc.start();
    const page = await open(url);
    await isOpen(page);
    await write(page, "from the view");
    await expect.poll(typed).toContain("from the view\n");
    // A second viewer sees the same.
    await isOpen(await open(url));
    await sandbox.desktop.vnc.stop();
    await says(page, /The view has ended/);
  });

  test("for looking only takes no keys, whatever its page sends", async () => {
    const { url } = await sandbox.desktop.vnc.start({ viewOnly: true });
    const page = await open(url?.replace("&view_only", ""));
    await isOpen(page);
    await write(page, "forbidden");
    const control = await open((await sandbox.desktop.vnc.start()).url);
    await isOpen(control);
    await write(control, "allowed");
    await expect.poll(typed).toContain("allowed\n");
    expect(await typed()).not.toContain("forbidden");
  });

  test("asks for a password, if it has one", async () => {
    const { url } = await sandbox.desktop.vnc.start({ password: "secret word" });
    expect(url).not.toContain("key=");
    const page = await open(url);
    await page.locator("input").fill("wrong word");
    await page.keyboard.press("Enter");
    await says(page, /This password is wrong/);
    await page.locator("input").fill("secret word");
    await page.keyboard.press("Enter");
    await isOpen(page);
  });

  test("opens for no key of another sandbox, no wrong one, and none that has expired", async () => {
    const { url = "" } = await sandbox.desktop.vnc.start();
    await using other = await client.sandboxes.create({ template: "desktop" });
    const { url: otherUrl = "" } = await other.desktop.vnc.start();
    await says(await open(url.replace(/#.*/, new URL(otherUrl).hash)), /This link is wrong/);
    await says(await open(url.replace(/#.*/, "#key=")), /This link is wrong/);
    const short = await open((await sandbox.desktop.vnc.start({ expiresInSeconds: 10 })).url);
    // On a slow machine it may expire before it is open.
    await says(short, /has expired/);
    await short.reload();
    await says(short, /This link is wrong, or it has expired/);
  });
});

describe("a browser on the desktop", () => {
  test("is driven from outside with a token that expires", async () => {
    const page =
      'data:text/html,<form><input id=name name=name1><button type=button onclick="document.title=this.form.name1.value">Send</button></form>';
    const access = await sandbox.desktop.browser({ url: page });
    expect(access.url).toMatch(/^ws:.*\/preview\/.*\/devtools\/[\w-]{32}$/);
    const remote = await chromium.connectOverCDP(access.url);
    const tab = remote.contexts()[0]?.pages()[0] as Page;
    await tab.fill("#name", "filled in");
    await tab.click("button");
    await expect.poll(() => tab.title()).toBe("filled in");
    await expect
      .poll(async () => (await sandbox.desktop.windows.list()).map(({ title }) => title))
      .toContainEqual(expect.stringMatching(/^filled in/));
    await remote.close();
    const again = await sandbox.desktop.browser({ expiresInSeconds: 10 });
    const late = await chromium.connectOverCDP(again.url);
    await expect.poll(() => late.isConnected()).toBe(false);
    await expect(chromium.connectOverCDP(again.url)).rejects.toThrow(/401/);
  });

  test("reaches what the sandbox may, through its proxy", async () => {
    const site = createServer((_, response) => response.end("<title>Site</title>")).listen(0, "127.0.0.1");
    onTestFinished(() => void site.close());
    await once(site, "listening");
    const { port } = site.address() as AddressInfo;
    const own = await startLocalServer({
      args: ["--pool", "0", "--egress-allow-private", `127.0.0.1:${port}`],
    });
    onTestFinished(() => void own.stop());
    await using ownClient = new SandboxClient({ apiKey: own.apiKey, baseUrl: own.url });
    await using inside = await ownClient.sandboxes.create({ template: "desktop" });
    const { url } = await inside.desktop.browser();
    const remote = await chromium.connectOverCDP(url);
    const tab = remote.contexts()[0]?.pages()[0] as Page;
    await tab.goto(`http://host.docker.internal:${port}/`);
    expect(await tab.title()).toBe("Site");
    const refused = await tab.goto(`http://host.docker.internal:${new URL(own.url).port}/`);
    expect(refused?.status()).toBe(403);
    // The page is in the sandbox, whose own loopback addresses are not this machine's.
    await expect(tab.goto(`http://127.0.0.1:${port}/`)).rejects.toThrow(/ERR_CONNECTION_REFUSED/);
    await remote.close();
  });

  test("opens for no other key", async () => {
    const { url } = await sandbox.desktop.browser();
    const refused = new WebSocket(url.replace(/[^/]*$/, "wrong"));
    await new Promise((resolve) => refused.addEventListener("error", resolve));
    expect(refused.readyState).toBe(WebSocket.CLOSED);
  });
});
