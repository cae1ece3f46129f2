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
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunningAgent } from "../support/running-agent.js";
import { RunningDesktop } from "../support/running-desktop.js";

let desktop: RunningDesktop;

beforeAll(async () => {
  desktop = await RunningDesktop.start();
});
afterAll(() => desktop[Symbol.asyncDispose]());

const processes = async () =>
  (await desktop.get("debug/processes")).body.processes as { name: string; pid: number }[];
const pidOf = async (name: string) => (await processes()).find((one) => one.name === name)?.pid ?? 0;

describe("a desktop refuses", () => {
  const long = "x".repeat(2000);
  test.each<[string, string, object, RegExp]>([
    ["a screen without a pixel", "display/set", { width: 0, height: 0 }, /width/],
    ["a screen larger than X has", "display/set", { width: 100_000, height: 100_000 }, /width/],
    [
      "a part outside the screen",
      "screenshot/region",
      { x: 5000, y: 0, width: 10, height: 10 },
      /1280 pixels wide/,
    ],
    ["a part without a pixel", "screenshot/region", { x: 0, y: 0, width: 0, height: 10 }, /width/],
    ["a position left of the screen", "mouse/click", { x: -1, y: 0 }, /x/],
    ["a button that no mouse has", "mouse/click", { x: 1, y: 1, button: "fourth" }, /button/],
    ["half a position", "mouse/scroll", { x: 1, amount: 1 }, /together/],
    ["a wheel that is not to turn", "mouse/scroll", { direction: "up" }, /how far/],
    ["control characters", "keyboard/type", { text: "a\u001bb" }, /U\+001b at position 1/],
    ["typing for hours", "keyboard/type", { text: long, delay_ms: 1000 }, /2000 s/],
    ["a key that no keyboard has", "keyboard/press", { key: "AnyKey" }, /named "AnyKey"/],
    ["the number of a key", "keyboard/press", { key: "38" }, /named "38"/],
    ["a key that looks like a property", "keyboard/press", { key: "__proto__" }, /named "__proto__"/],
    ["a key that looks like an option", "keyboard/press", { key: "--help" }, /named "--help"/],
    ["no key", "keyboard/combination", { keys: [] }, /key/],
    ["a clipboard of more than 1 MiB", "clipboard/set", { text: "é".repeat(600_000) }, /1 MiB/],
    ["a clipboard of nothing", "clipboard/set", {}, /content/],
    ["an empty text to look for", "x11/find_element", { text: " " }, /empty/],
    ["a format that is none", "recording/start", { format: "gif" }, /format/],
    ["a short password", "vnc/start", { password: "abc" }, /6 characters/],
    ["a browser with an address that is none", "browser", { url: "javascript:1" }, /https:/],
  ])("%s", async (_, path, body, reason) => {
    const answer = await desktop.post(path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(reason);
  });

  test("a language that its Tesseract lacks", { tags: ["tesseract-ocr"] }, async () => {
    const region = { x: 0, y: 0, width: 50, height: 50 };
    const answer = await desktop.post("x11/ocr", { ...region, language: "tlh" });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/tlh/) } });
    expect((await desktop.post("x11/ocr", { ...region, language: "../eng" })).status).toBe(400);
  });

  test("a window that is gone, and one that never was", async () => {
    const { id } = await desktop.openTerminal("gone", "sleep 100");
    await desktop.post("windows/close", { window_id: id });
    await expect.poll(() => desktop.windows()).toEqual([]);
    for (const [path, more] of [
      ["focus", {}],
      ["close", {}],
      ["minimize", {}],
      ["resize", { width: 100, height: 100 }],
    ] as const) {
      for (const window_id of [id, "0", "-r", "$(reboot)", "0x1"])
        expect((await desktop.post(`windows/${path}`, { window_id, ...more })).body).toMatchObject({
          code: "WINDOW_NOT_FOUND",
        });
    }
    expect((await desktop.get(`x11/capture_window?window_id=${id}`)).status).toBe(404);
    expect((await desktop.get("x11/capture_window")).body.code).toBe("WINDOW_NOT_FOUND");
  });

  test("recordings that are not there", async () => {
    expect((await desktop.post("recording/stop")).body.code).toBe("RECORDING_NOT_FOUND");
    expect((await desktop.get("recording/status?id=none")).status).toBe(404);
    expect((await desktop.get("recording/none/download")).status).toBe(404);
  });
});

describe("a desktop in a sandbox that attacks it", () => {
  test("shows hostile titles as one line each", async () => {
    await desktop.openTerminal("quiet", "sleep 100");
    const hostile = String.raw`printf "\033]2;a\033[31m\n0x1 0 1 vm fake\007"; sleep 100`;
    await desktop.openTerminal("hostile", "sleep 100");
    const { id } = (await desktop.windows()).find(({ title }) => title === "hostile") ?? {};
    await desktop.output(
      `xdotool set_window --name "$(printf 'x\\033[31m\\n0x00000001  0 1 vm fake')" ${id}; echo '${hostile}' >/dev/null`,
    );
    await expect
      .poll(async () => (await desktop.windows()).map(({ title }) => title))
      .not.toContain("hostile");
    for (const { title } of await desktop.windows()) expect(title).not.toMatch(/\p{Cc}/u);
    expect((await desktop.windows()).map(({ title }) => title)).toEqual(["quiet", "x [31m"]);
    for (const path of ["x11/capture_window?window_id=1", "x11/capture_window?window_id=0x1"])
      expect((await desktop.get(path)).body.code).toBe("WINDOW_NOT_FOUND");
    for (const { id } of await desktop.windows()) await desktop.post("windows/close", { window_id: id });
  });

  test("reads titles of many lines as fast as others", async () => {
    await desktop.openTerminal("lines", "sleep 100");
    await desktop.output(
      `xdotool search --name '^lines$' set_window --name "$(head -c 100000 /dev/zero | tr '\\0' '\\n'; echo x)"`,
    );
    await expect.poll(async () => (await desktop.windows()).map(({ title }) => title)).toEqual([""]);
    const [window] = await desktop.windows();
    await desktop.post("windows/close", { window_id: window?.id });
    await expect.poll(() => desktop.windows()).toEqual([]);
  });

  test("does not wait for an owner of the clipboard that says nothing, and reads no more than a text", async () => {
    const owner = "echo $$ > owner; exec xclip -quiet -selection clipboard -i";
    const command = `head -c 100000000 /dev/zero | tr '\\0' a | sh -c '${owner}'`;
    await desktop.agent.call("POST", "/commands/background", { command });
    const code = async () => (await desktop.get("clipboard/get")).body.code;
    await expect.poll(code).toBe("PAYLOAD_TOO_LARGE");
    const pid = Number(await desktop.output("cat owner"));
    process.kill(pid, "SIGSTOP");
    expect(await code()).toBe("DESKTOP_FAILED");
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => (await desktop.get("clipboard/get")).body.text).toBe("");
  });

  test("starts its window manager again", async () => {
    process.kill(await pidOf("openbox"), "SIGKILL");
    await expect.poll(() => pidOf("openbox")).toBe(0);
    await desktop.openTerminal("managed", "sleep 100");
    expect(await pidOf("openbox")).toBeGreaterThan(0);
  });

  test("tells that X was killed, and starts it again with the next call", async () => {
    const waiting = desktop.post("x11/wait_for", { text: "nowhere to be seen", timeout: 60 });
    const pid = await pidOf("Xtigervnc");
    process.kill(pid, "SIGKILL");
    // The first call may come before the agent knows.
    expect([200, 409]).toContain((await desktop.post("screenshot")).status);
    expect((await desktop.post("screenshot")).status).toBe(200);
    expect(await pidOf("Xtigervnc")).not.toBe(pid);
    expect(await desktop.windows()).toEqual([]);
    expect((await desktop.get("debug/logs")).body.logs).toEqual(
      expect.arrayContaining([expect.stringMatching(/The X server ended \(SIGKILL\)/)]),
    );
    process.kill(await pidOf("Xtigervnc"), "SIGKILL");
    expect((await waiting).status).toBeLessThan(500);
  });

  test("takes another display if a program has the first", async () => {
    await using other = await RunningDesktop.start();
    expect((await other.get("display")).body.display).not.toBe((await desktop.get("display")).body.display);
  });

  test("leaves no process when the sandbox ends", async () => {
    const other = await RunningDesktop.start();
    await other.post("clipboard/set", { text: "a" });
    const all = (await other.get("debug/processes")).body.processes as { pid: number; name: string }[];
    expect(all.map(({ name }) => name).sort()).toEqual(["Xtigervnc", "openbox", "xclip"]);
    await other[Symbol.asyncDispose]();
    const state = (pid: number) =>
      readFile(`/proc/${pid}/stat`, "utf8").then(
        (text) => text.slice(text.lastIndexOf(")") + 2)[0],
        () => "gone",
      );
    for (const { pid } of all) await expect.poll(() => state(pid)).toMatch(/gone|Z/);
  });
});

test("a template without the programs says what brings them", async () => {
  await using bare = await RunningAgent.start({ desktop: true, environment: { PATH: "/nowhere" } });
  const answer = await bare.call("POST", "/desktop/screenshot");
  expect(answer).toMatchObject({ status: 400, body: { code: "DESKTOP_NOT_AVAILABLE" } });
  expect(answer.body.error).toMatch(/tigervnc-standalone-server.*setup desktop/);
});

test("a view goes on another port if a program has the usual one", { tags: ["novnc"] }, async () => {
  const taken = createServer().listen(6080, "127.0.0.1");
  await once(taken, "listening").catch(() => undefined);
  try {
    const view = (await desktop.post("vnc/start")).body;
    expect(view).toMatchObject({ running: true, port: expect.any(Number) });
    expect(view.port).not.toBe(6080);
    expect(await (await fetch(String(view.url))).text()).toContain("Desktop of a sandbox");
  } finally {
    taken.close();
  }
});
