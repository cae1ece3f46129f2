// @module-tag tigervnc-standalone-server
// @module-tag openbox
// @module-tag xdotool
// @module-tag wmctrl
// @module-tag xclip
// @module-tag imagemagick
// @module-tag x11-utils
// @module-tag x11-xserver-utils
// @module-tag xfonts-base
// @module-tag tesseract-ocr
// @module-tag ffmpeg
// @module-tag novnc
// @module-tag xterm
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { Sandbox } from "../support/vendor-sdk.js";

let server: LocalServer;
let sandbox: Sandbox;

beforeAll(async () => {
  server = await startLocalServer({ args: ["--pool", "0"] });
  // The id that the vendor's desktop has.
  const account = { apiKey: server.apiKey, baseURL: server.url };
  sandbox = await Sandbox.create({ ...account, templateId: "399", timeoutSeconds: 600 });
});
afterAll(async () => {
  await sandbox?.kill();
  await server?.stop();
});

test("the vendor's npm SDK uses every operation of a desktop", async () => {
  const { desktop } = sandbox;
  expect(await desktop.startVnc()).toMatchObject({ running: true, url: expect.stringContaining("vnc") });
  expect(await desktop.getVncUrl()).toContain("vnc");
  await sandbox.commands.run("(xterm -title shell -fn fixed -e 'sleep 100' &) >/dev/null 2>&1");
  await expect.poll(async () => (await desktop.listWindows()).map(({ title }) => title)).toEqual(["shell"]);
  const [window] = await desktop.listWindows();
  const id = String(window?.id);

  await desktop.mouseMove(10, 10);
  await desktop.mouseClick(100, 100, { button: "right", clicks: 2 });
  await desktop.mouseDrag(100, 100, 200, 200);
  await desktop.dragDrop(100, 100, 200, 200);
  await desktop.mouseScroll(10, 10, -300);
  await desktop.keyboardType("Hello, World!");
  await desktop.keyboardPress("Enter");
  await desktop.keyboardCombination(["ctrl", "c"]);
  await desktop.hotkey(["alt"], "tab");
  await desktop.setClipboard("copied");
  expect(await desktop.getClipboard()).toBe("copied");
  expect(await desktop.getClipboardHistory()).toEqual(["copied"]);

  expect(await desktop.screenshot()).toMatchObject({ format: "png", width: 1280, height: 800 });
  expect((await desktop.captureWindow(id)).subarray(1, 4).toString()).toBe("PNG");
  expect((await desktop.screenshotRegion(0, 0, 10, 10)).length).toBeGreaterThan(0);

  await desktop.focusWindow(id);
  await desktop.resizeWindow(id, 400, 300);
  await desktop.minimizeWindow(id);
  await desktop.closeWindow(id);
  await expect.poll(() => desktop.listWindows()).toEqual([]);

  expect(await desktop.getDisplayInfo()).toMatchObject({ width: 1280, height: 800 });
  expect((await desktop.getAvailableResolutions()).length).toBeGreaterThan(3);
  await desktop.setResolution(1024, 768);
  expect(await desktop.getDisplayInfo()).toMatchObject({ width: 1024, height: 768 });

  expect(typeof (await desktop.ocr(0, 0, 100, 100))).toBe("string");
  expect(await desktop.findElement("nowhere")).toBeNull();
  expect(await desktop.waitFor("nowhere", 1)).toBeUndefined();
  expect(await desktop.getBounds("nowhere")).toMatchObject({ found: false });

  await desktop.startRecording("recorded.mp4");
  expect(await desktop.getRecordingStatus()).toMatchObject({ status: "recording" });
  await desktop.stopRecording();
  const { recording_id } = (await desktop.getRecordingStatus()) as { recording_id: string };
  expect((await desktop.downloadRecording(recording_id)).length).toBeGreaterThan(0);

  expect(await desktop.getDebugLogs()).toEqual(expect.arrayContaining([expect.any(String)]));
  expect((await desktop.getDebugProcesses()).length).toBeGreaterThan(1);
  await desktop.stopVnc();
  expect(await desktop.getVncInfo()).toMatchObject({ running: false });
});
