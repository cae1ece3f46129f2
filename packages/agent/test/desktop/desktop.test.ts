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
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunningDesktop } from "../support/running-desktop.js";

let desktop: RunningDesktop;

beforeAll(async () => {
  desktop = await RunningDesktop.start();
});
afterAll(() => desktop[Symbol.asyncDispose]());

/** Width and height of a PNG. */
const sizeOf = (image: Buffer): number[] => [image.readUInt32BE(16), image.readUInt32BE(20)];
const done = { success: true };

describe("a desktop", () => {
  test("starts with the first call", async () => {
    expect((await desktop.get("vnc/status")).body).toEqual({ running: false });
    expect((await desktop.get("debug/processes")).body.processes).toEqual([]);
    expect((await desktop.get("display")).body).toMatchObject({ width: 1280, height: 800, depth: 24 });
    expect(await desktop.windows()).toEqual([]);
    expect(await desktop.output("echo $DISPLAY")).toMatch(/^:\d+\n$/);
  });

  test("tells its log and its processes", async () => {
    expect((await desktop.get("debug/logs")).body.logs).toEqual(
      expect.arrayContaining([expect.stringMatching(/desktop: Starting the X server/)]),
    );
    const { processes } = (await desktop.get("debug/processes")).body;
    expect(processes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "Xtigervnc", pid: expect.any(Number), command: expect.any(String) }),
        expect.objectContaining({ name: "openbox" }),
      ]),
    );
  });

  test.each(["", "/info", "/current"])("tells its size at display%s", async (path) => {
    expect((await desktop.get(`display${path}`)).body).toMatchObject({ width: 1280, height: 800 });
  });

  test("is resized, also to what no screen has", async () => {
    for (const path of ["available", "resolutions"])
      expect((await desktop.get(`display/${path}`)).body.resolutions).toContainEqual({
        width: 1024,
        height: 768,
      });
    for (const [path, width, height] of [
      ["set", 1024, 768],
      ["resolution", 333, 777],
      ["set", 1280, 800],
    ] as const) {
      expect((await desktop.post(`display/${path}`, { width, height })).body).toMatchObject({
        width,
        height,
      });
      expect(sizeOf((await desktop.post("screenshot")).bytes)).toEqual([width, height]);
    }
  });

  test("gives pictures as bytes and as JSON", async () => {
    const { bytes, headers } = await desktop.post("screenshot");
    expect(headers["content-type"]).toBe("image/png");
    expect(sizeOf(bytes)).toEqual([1280, 800]);
    const accept = "application/json, text/plain, */*";
    const inJson = await desktop.get("screenshot?max_edge=640", { accept });
    expect(inJson.body).toMatchObject({ format: "png", width: 640, height: 400 });
    expect(sizeOf(Buffer.from(String(inJson.body.image), "base64"))).toEqual([640, 400]);
    const region = await desktop.post("screenshot/region", { x: 10, y: 20, width: 100, height: 50 });
    expect(sizeOf(region.bytes)).toEqual([100, 50]);
  });

  test("types what its keyboard has, and what it has not", async () => {
    await desktop.openTerminal("typing", "cat > typed.txt");
    const text = "Hello, world! ~`[]{}|\\\"'<>\nhäß 你好 €\nαβγδεζηθικλμνξοπρστυφχψω\n";
    expect((await desktop.post("keyboard/type", { text })).body).toMatchObject(done);
    await desktop.post("keyboard/combination", { modifiers: ["ctrl"], key: "d" });
    await expect.poll(() => desktop.output("cat typed.txt")).toBe(text);
    await expect.poll(() => desktop.windows()).toEqual([]);
  });

  test("types on the layout that a program has chosen", async () => {
    await desktop.openTerminal("layout", "cat > layout.txt");
    await desktop.output("setxkbmap de");
    expect((await desktop.post("keyboard/type", { text: "ŵ\n" })).body).toMatchObject(done);
    expect(await desktop.output("setxkbmap -query")).toMatch(/layout: +de/);
    expect(await desktop.output("xkbcomp -xkb $DISPLAY - 2>/dev/null | grep -c udiaeresis")).not.toBe("0\n");
    await desktop.output("setxkbmap us");
    await desktop.post("keyboard/combination", { keys: ["ctrl", "d"] });
    await expect.poll(() => desktop.output("cat layout.txt")).toBe("ŵ\n");
    await expect.poll(() => desktop.windows()).toEqual([]);
  });

  test("presses keys by the names that people use", async () => {
    await desktop.openTerminal("keys", "cat > keys.txt");
    for (const key of ["a", "/", "space", "B", "BackSpace", "enter"])
      expect((await desktop.post("keyboard/press", { key })).body).toMatchObject(done);
    expect((await desktop.post("keyboard/combination", { keys: ["shift", "x"] })).body).toMatchObject(done);
    await desktop.post("keyboard/press", { key: "Return" });
    await desktop.post("x11/hotkey", { modifiers: ["ctrl"], key: "d" });
    await expect.poll(() => desktop.output("cat keys.txt")).toBe("a/ \nX\n");
    await expect.poll(() => desktop.windows()).toEqual([]);
  });

  test("lists windows where they are, and moves the focus between them", async () => {
    const first = await desktop.openTerminal("first", "sleep 100");
    const second = await desktop.openTerminal("second", "sleep 100");
    expect(first).toMatchObject({ id: expect.stringMatching(/^\d+$/), pid: expect.any(Number), desktop: 0 });
    expect(first.is_minimized).toBe(false);
    // The title of the window is above its content.
    expect(first.x).toBeGreaterThanOrEqual(100);
    expect(first.y).toBeGreaterThan(80);
    await desktop.post("windows/focus", { window_id: first.id });
    const named = async (title: string) => (await desktop.windows()).find((window) => window.title === title);
    await expect.poll(() => named("first")).toMatchObject({ focused: true, is_active: true });
    expect(await named("second")).toMatchObject({ focused: false });

    await desktop.post("windows/resize", { window_id: second.id, width: 400, height: 300 });
    await expect.poll(async () => (await named("second"))?.width).toBeGreaterThan(380);
    await desktop.post("windows/minimize", { window_id: `0x${Number(second.id).toString(16)}` });
    await expect.poll(() => named("second")).toMatchObject({ is_minimized: true });

    const image = (await desktop.get(`x11/capture_window?window_id=${first.id}`)).bytes;
    expect(sizeOf(image)).toEqual([first.width, first.height]);
    expect(sizeOf((await desktop.get("x11/capture_window")).bytes)).toEqual([first.width, first.height]);
    const minimized = `x11/capture_window?window_id=${second.id}`;
    expect((await desktop.get(minimized)).body.error).toMatch(/minimized/);
    // HOPX's clients have numbers for windows.
    await desktop.post("windows/focus", { window_id: Number(second.id) });
    const { width, height } = (await named("second")) ?? {};
    expect(sizeOf((await desktop.get(minimized)).bytes)).toEqual([width, height]);
    for (const { id } of [first, second]) await desktop.post("windows/close", { window_id: id });
    await expect.poll(() => desktop.windows()).toEqual([]);
  });

  test("moves, clicks, drags and scrolls", async () => {
    // An X terminal reports buttons and positions to a program that asks for them.
    const window = await desktop.openTerminal(
      "mouse",
      'stty raw -echo; printf "\\033[?1002h\\033[?1006h"; exec cat > mouse.txt',
    );
    const [x, y] = [(window.x ?? 0) + 50, (window.y ?? 0) + 50];
    for (const button of ["left", "middle", "right"]) await desktop.post("mouse/click", { x, y, button });
    await desktop.post("mouse/click", { x, y, clicks: 2 });
    await desktop.post("mouse/scroll", { amount: 2, direction: "up" });
    await desktop.post("mouse/scroll", { x, y, delta_y: 100 });
    await desktop.post("mouse/move", { x: x + 5, y });
    for (const path of ["mouse/drag", "x11/drag-drop", "x11/drag_drop"])
      expect(
        (await desktop.post(path, { from_x: x, from_y: y, to_x: x + 200, to_y: y + 20 })).body,
      ).toMatchObject(done);
    const events = async () => await readFile(join(desktop.agent.workspace, "mouse.txt"), "latin1");
    const count = (text: string, code: number, end: string) =>
      [...text.matchAll(/\[<(\d+);\d+;\d+([Mm])/g)].filter(
        ([, one, how]) => Number(one) === code && how === end,
      ).length;
    await expect.poll(async () => count(await events(), 0, "m")).toBe(6);
    const text = await events();
    expect([0, 1, 2, 64, 65].map((code) => count(text, code, "M"))).toEqual([6, 1, 1, 2, 1]);
    // Movements while the left button is down.
    expect(count(text, 32, "M")).toBeGreaterThan(3);
    await desktop.post("windows/close", { window_id: window.id });
  });

  test("shares its clipboard with programs, and keeps what was in it", async () => {
    expect((await desktop.get("clipboard/get")).body).toEqual({ content: "", text: "" });
    await desktop.post("clipboard/set", { text: "first" });
    await desktop.post("clipboard/set", { content: "übung\n二" });
    expect(await desktop.output("xclip -selection clipboard -o")).toBe("übung\n二");
    await desktop.output("printf inside | xclip -selection clipboard -i >/dev/null 2>&1");
    // xclip goes to the background before it owns the clipboard.
    await expect
      .poll(async () => (await desktop.get("clipboard/get")).body)
      .toEqual({ content: "inside", text: "inside" });
    expect((await desktop.get("clipboard/history")).body).toEqual({
      history: ["inside", "übung\n二", "first"],
      count: 3,
    });
  });
});

describe("text on the screen", { tags: ["tesseract-ocr"] }, () => {
  test("is read and found", async () => {
    const window = await desktop.openTerminal("text", 'echo "Accept the terms"; sleep 100');
    const found = (await desktop.post("x11/wait_for", { text: "accept THE", timeout: 60 })).body;
    expect(found).toMatchObject({ found: true, element: { text: expect.stringMatching(/^Accept the$/) } });
    const { x = 0, y = 0, width = 0, height = 0 } = window;
    const { element } = found as { element: { x: number; y: number; width: number; height: number } };
    expect(element.x).toBeGreaterThanOrEqual(x);
    expect(element.x + element.width).toBeLessThan(x + width);
    expect(element.y).toBeGreaterThanOrEqual(y);
    const read = (await desktop.post("x11/ocr", { x, y, width, height })).body;
    expect(read).toMatchObject({ text: expect.stringContaining("Accept the terms") });
    expect(read.confidence).toBeGreaterThan(0.5);
    const bounds = (await desktop.post("x11/get_bounds", { text: "terms" })).body;
    expect(bounds).toMatchObject({ found: true, x: expect.any(Number), width: expect.any(Number) });
    await desktop.post("windows/close", { window_id: window.id });
  });

  test("is not waited for behind the looks of others", async () => {
    const others = [1, 2, 3].map(() => desktop.post("x11/find_element", { text: "nowhere" }));
    const look = desktop.post("x11/wait_for", { text: "nowhere", timeout: 1 });
    const order: string[] = [];
    await Promise.all([
      Promise.all(others).then(() => order.push("others")),
      look.then(() => order.push("look")),
    ]);
    expect((await look).body).toEqual({ found: false });
    expect(order).toEqual(["look", "others"]);
  });

  test("that is not there is no error", async () => {
    expect((await desktop.post("x11/find_element", { text: "nowhere" })).body).toEqual({
      found: false,
      element: null,
    });
    expect((await desktop.post("x11/wait_for", { text: "nowhere", timeout: 1 })).body).toEqual({
      found: false,
    });
  });
});

describe("a recording", { tags: ["ffmpeg"] }, () => {
  test.each([
    ["mp4", "h264"],
    ["webm", "vp8"],
  ])("of format %s can be played", async (format, codec) => {
    const started = (await desktop.post("recording/start", { fps: 20, format, quality: "low" })).body;
    expect(started).toMatchObject({ status: "recording", format });
    const id = String(started.recording_id);
    expect((await desktop.post("recording/start")).body).toMatchObject({ code: "RECORDING_RUNNING" });
    await desktop.post("mouse/move", { x: 5, y: 5 });
    const status = async () => (await desktop.get(`recording/status?id=${id}`)).body;
    await expect.poll(async () => (await status()).duration).toBeGreaterThan(1);
    const stopped = (await desktop.post("recording/stop", { recording_id: id })).body;
    expect(stopped).toMatchObject({ recording_id: id, status: "stopped", file_size: expect.any(Number) });
    expect(stopped.file_size).toBeGreaterThan(500);
    for (const path of [`recording/download?id=${id}`, `recording/${id}/download`, "recording/download"]) {
      const { bytes, headers } = await desktop.get(path);
      expect(headers["content-type"]).toBe(`video/${format}`);
      expect(bytes).toHaveLength(Number(stopped.file_size));
    }
    const probe = "ffprobe -v error -show_entries stream=codec_name,width,height -of csv=p=0";
    expect(await desktop.output(`${probe} ${stopped.output_file}`)).toContain(`${codec},1280,800`);
  });

  test("tells that the screen became too small for it", async () => {
    await desktop.post("recording/start");
    await desktop.post("display/set", { width: 640, height: 480 });
    await expect
      .poll(async () => (await desktop.get("recording/status")).body)
      .toMatchObject({ status: "failed", error: expect.stringMatching(/the screen became smaller/) });
    await desktop.post("display/set", { width: 1280, height: 800 });
  });

  test("goes where it is told to, but over no file", async () => {
    const body = { output_file: "demo.mp4" };
    await desktop.post("recording/start", body);
    const path = join(desktop.agent.workspace, "demo.mp4");
    expect((await desktop.post("recording/stop")).body).toMatchObject({
      status: "stopped",
      output_file: path,
    });
    expect((await desktop.post("recording/start", body)).body.error).toMatch(
      /a file of this name exists already/,
    );
    expect((await desktop.post("recording/start", { output_file: "/etc/x.mp4" })).status).toBe(403);
  });
});
