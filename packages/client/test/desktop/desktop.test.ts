import { describe, expect, test } from "vitest";
import type { Desktop } from "../../src/index.js";
import { rejection } from "../support/clients.js";
import { withSandbox } from "../support/sandbox-service.js";
import { json, scriptedServer } from "../support/scripted-server.js";

const png = Buffer.from("89504e470d0a1a0a", "hex");

/**
 * The desktop of a sandbox whose agent answers every request with `body`, and the agent itself, which records requests.
 */
async function desktopAnswering(body: unknown) {
  const agent = await scriptedServer((_, response) => {
    if (body instanceof Buffer) response.writeHead(200, { "content-type": "image/png" }).end(body);
    else json(response, 200, body);
  });
  return { desktop: (await withSandbox(agent.url)).desktop, agent };
}

type Call = (desktop: Desktop) => Promise<unknown>;
const region = { x: 1, y: 2, width: 3, height: 4 };
const recording = { recording_id: "r1", status: "recording", file_size: 5, output_file: "/tmp/r.mp4" };
const found = { found: true, element: { text: "OK", x: 1, y: 2, width: 3, height: 4 } };

describe("an operation of the desktop", () => {
  test.each<[string, Call, string, unknown]>([
    [
      "click",
      ({ mouse }) => mouse.click({ x: 1, y: 2 }, { button: "right", clicks: 2 }),
      "POST /desktop/mouse/click",
      { x: 1, y: 2, button: "right", clicks: 2 },
    ],
    ["move", ({ mouse }) => mouse.move({ x: 1, y: 2 }), "POST /desktop/mouse/move", { x: 1, y: 2 }],
    [
      "drag",
      ({ mouse }) => mouse.drag({ x: 1, y: 2 }, { x: 3, y: 4 }),
      "POST /desktop/mouse/drag",
      { from_x: 1, from_y: 2, to_x: 3, to_y: 4 },
    ],
    [
      "drag and drop",
      ({ mouse }) => mouse.dragAndDrop({ x: 1, y: 2 }, { x: 3, y: 4 }),
      "POST /desktop/x11/drag-drop",
      { from_x: 1, from_y: 2, to_x: 3, to_y: 4 },
    ],
    [
      "scroll",
      ({ mouse }) => mouse.scroll(3, { direction: "up", at: { x: 1, y: 2 } }),
      "POST /desktop/mouse/scroll",
      { amount: 3, direction: "up", x: 1, y: 2 },
    ],
    [
      "type",
      ({ keyboard }) => keyboard.type("hi", { delayMs: 5 }),
      "POST /desktop/keyboard/type",
      { text: "hi", delay_ms: 5 },
    ],
    ["press", ({ keyboard }) => keyboard.press("Return"), "POST /desktop/keyboard/press", { key: "Return" }],
    [
      "combination",
      ({ keyboard }) => keyboard.combination(["ctrl", "c"]),
      "POST /desktop/keyboard/combination",
      { keys: ["ctrl", "c"], modifiers: ["ctrl"], key: "c" },
    ],
    [
      "hotkey",
      ({ keyboard }) => keyboard.hotkey(["alt"], "F4"),
      "POST /desktop/x11/hotkey",
      { modifiers: ["alt"], key: "F4" },
    ],
    [
      "set clipboard",
      (desktop) => desktop.setClipboard("x"),
      "POST /desktop/clipboard/set",
      { content: "x", text: "x" },
    ],
    [
      "set resolution",
      (desktop) => desktop.setResolution({ width: 800, height: 600 }),
      "POST /desktop/display/set",
      { width: 800, height: 600 },
    ],
    ["focus", ({ windows }) => windows.focus("w"), "POST /desktop/windows/focus", { window_id: "w" }],
    ["close", ({ windows }) => windows.close("w"), "POST /desktop/windows/close", { window_id: "w" }],
    [
      "minimize",
      ({ windows }) => windows.minimize("w"),
      "POST /desktop/windows/minimize",
      { window_id: "w" },
    ],
    [
      "resize",
      ({ windows }) => windows.resize("w", { width: 8, height: 6 }),
      "POST /desktop/windows/resize",
      { window_id: "w", width: 8, height: 6 },
    ],
  ])("%s sends what was given", async (_, call, request, body) => {
    const { desktop, agent } = await desktopAnswering({ success: true });
    expect(await call(desktop)).toBeUndefined();
    expect(agent.calls()).toEqual([request]);
    expect(agent.requests[0]?.json).toEqual(body);
  });

  test.each<[string, Call, string, unknown, unknown]>([
    [
      "display",
      (desktop) => desktop.display(),
      "GET /desktop/display/current",
      { width: 8, height: 6, display: ":1" },
      { width: 8, height: 6 },
    ],
    [
      "resolutions",
      (desktop) => desktop.resolutions(),
      "GET /desktop/display/available",
      { resolutions: [{ width: 8, height: 6 }, [4, 3]] },
      [
        { width: 8, height: 6 },
        { width: 4, height: 3 },
      ],
    ],
    ["clipboard", (desktop) => desktop.clipboard(), "GET /desktop/clipboard/get", { text: "x" }, "x"],
    [
      "clipboard history",
      (desktop) => desktop.clipboardHistory(),
      "GET /desktop/clipboard/history",
      { history: ["x"] },
      ["x"],
    ],
    ["logs", (desktop) => desktop.logs(), "GET /desktop/debug/logs", { logs: ["line"] }, ["line"]],
    [
      "processes",
      (desktop) => desktop.processes(),
      "GET /desktop/debug/processes",
      { processes: [{ pid: 3 }] },
      [expect.objectContaining({ pid: 3 })],
    ],
    [
      "windows",
      ({ windows }) => windows.list(),
      "GET /desktop/windows/list",
      { windows: [{ id: "w", is_active: true }] },
      [expect.objectContaining({ id: "w", focused: true })],
    ],
    [
      "start VNC",
      ({ vnc }) => vnc.start(),
      "POST /desktop/vnc/start",
      { running: true, port: 5901 },
      expect.objectContaining({ running: true, port: 5901 }),
    ],
    [
      "start VNC to look",
      ({ vnc }) => vnc.start({ viewOnly: true, expiresInSeconds: 60 }),
      "POST /desktop/vnc/start",
      { running: true, view_only: true, expires_at: "2026-01-01T00:00:00Z" },
      expect.objectContaining({ viewOnly: true, expiresAt: new Date("2026-01-01T00:00:00Z") }),
    ],
    [
      "a browser",
      (desktop) => desktop.browser({ url: "https://example.com", expiresInSeconds: 60 }),
      "POST /desktop/browser",
      { url: "ws://a/devtools/t", port: 6080, expires_at: "2026-01-01T00:00:00Z" },
      { url: "ws://a/devtools/t", port: 6080, expiresAt: new Date("2026-01-01T00:00:00Z") },
    ],
    [
      "stop VNC",
      ({ vnc }) => vnc.stop(),
      "POST /desktop/vnc/stop",
      { running: false },
      expect.objectContaining({ running: false }),
    ],
    [
      "VNC status",
      ({ vnc }) => vnc.status(),
      "GET /desktop/vnc/status",
      {},
      expect.objectContaining({ running: false }),
    ],
    [
      "start recording",
      ({ recording }) => recording.start({ fps: 5 }),
      "POST /desktop/recording/start",
      recording,
      expect.objectContaining({ id: "r1", path: "/tmp/r.mp4" }),
    ],
    [
      "stop recording",
      ({ recording }) => recording.stop("r1"),
      "POST /desktop/recording/stop",
      recording,
      expect.objectContaining({ size: 5 }),
    ],
    [
      "recording status",
      ({ recording }) => recording.status("r1"),
      "GET /desktop/recording/status?id=r1",
      recording,
      expect.objectContaining({ status: "recording" }),
    ],
    [
      "download recording",
      ({ recording }) => recording.download("r1"),
      "GET /desktop/recording/download?id=r1",
      png,
      new Uint8Array(png),
    ],
    [
      "read text",
      ({ text }) => text.read(region),
      "POST /desktop/x11/ocr",
      { text: "OK", confidence: 0.9 },
      { text: "OK", confidence: 0.9 },
    ],
    ["find text", ({ text }) => text.find("OK"), "POST /desktop/x11/find_element", found, found.element],
    [
      "wait for text",
      ({ text }) => text.waitFor("OK"),
      "POST /desktop/x11/wait_for",
      { found: false },
      undefined,
    ],
    ["bounds of text", ({ text }) => text.bounds("OK"), "POST /desktop/x11/get_bounds", found, found.element],
  ])("%s gives what the agent has", async (_, call, request, answer, expected) => {
    const { desktop, agent } = await desktopAnswering(answer);
    expect(await call(desktop)).toEqual(expected);
    expect(agent.calls()).toEqual([request]);
  });
});

describe("a screenshot", () => {
  const inJson = { image: png.toString("base64"), format: "png", width: 8, height: 6 };
  const shots: [string, Call, string][] = [
    ["the screen", (desktop) => desktop.screenshot(), "POST /desktop/screenshot"],
    ["a region", (desktop) => desktop.screenshot(region), "POST /desktop/screenshot/region"],
    ["a window", ({ windows }) => windows.capture("w"), "GET /desktop/x11/capture_window?window_id=w"],
  ];

  test.each(shots)("of %s is bytes, sent as such or in JSON", async (_, call, request) => {
    const raw = await desktopAnswering(png);
    expect(await call(raw.desktop)).toMatchObject({ bytes: new Uint8Array(png), format: "png" });
    expect(raw.agent.calls()).toEqual([request]);
    const wrapped = await desktopAnswering(inJson);
    expect(await call(wrapped.desktop)).toEqual({
      bytes: new Uint8Array(png),
      format: "png",
      width: 8,
      height: 6,
    });
  });

  test.each([[{}], [{ image: "" }], [{ image: "<html>" }], [Buffer.alloc(0)], [Buffer.from("{")]])(
    "that is no image is an error: %o",
    async (answer) => {
      const { desktop } = await desktopAnswering(answer);
      expect(await rejection(desktop.screenshot())).toMatchObject({ code: "INVALID_RESPONSE" });
    },
  );
});
