import { expect, it } from "vitest";
import { sandboxService } from "../../../client/test/support/sandbox-service.js";
import { json } from "../../../client/test/support/scripted-server.js";
import { hopx } from "../../src/profiles/hopx/profile.js";
import { selectTools } from "../../src/server/tool-selection.js";
import { connect } from "../support/mcp-connection.js";

const image =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const window = { id: "w1", title: "Editor", x: 1, y: 2, width: 3, height: 4, is_active: true };

type Answering = Parameters<typeof json>[0];
const done = (_: unknown, response: Answering): void => json(response, 200, { success: true });
const screen = { image, format: "png", width: 8, height: 6 };
const operations = {
  "POST /desktop/screenshot": (_: unknown, response: Answering) => json(response, 200, screen),
  "POST /desktop/screenshot/region": (_: unknown, response: Answering) =>
    json(response, 200, { image, format: "png" }),
  "POST /desktop/mouse/click": done,
  "POST /desktop/mouse/drag": done,
  "POST /desktop/mouse/scroll": done,
  "POST /desktop/keyboard/type": done,
  "POST /desktop/keyboard/press": done,
  "POST /desktop/keyboard/combination": done,
  "POST /desktop/x11/wait_for": (_: unknown, response: Answering) =>
    json(response, 200, { found: true, element: { x: 5, y: 6 } }),
  "GET /desktop/clipboard/get": (_: unknown, response: Answering) =>
    json(response, 200, { content: "copied" }),
  "POST /desktop/clipboard/set": done,
  "GET /desktop/windows/list": (_: unknown, response: Answering) =>
    json(response, 200, { windows: [window] }),
  "POST /desktop/windows/focus": done,
};

/** Tool, arguments, fields of the result, and the body that the agent must receive. */
const calls: readonly [string, object, object, object | undefined][] = [
  ["desktop_screenshot", {}, { format: "png", bytes: 70, width: 8, height: 6 }, undefined],
  [
    "desktop_screenshot",
    { x: 1, y: 2, width: 3, height: 4 },
    { bytes: 70 },
    { x: 1, y: 2, width: 3, height: 4 },
  ],
  ["desktop_click", { x: 1, y: 2 }, { status: "done" }, { x: 1, y: 2, button: "left", clicks: 1 }],
  ["desktop_drag", { x: 1, y: 2, to_x: 3, to_y: 4 }, {}, { from_x: 1, from_y: 2, to_x: 3, to_y: 4 }],
  ["desktop_scroll", { x: 1, y: 2 }, {}, { x: 1, y: 2, direction: "down", amount: 3 }],
  ["desktop_type", { text: "hi" }, {}, { text: "hi" }],
  ["desktop_press", { keys: ["Return"] }, {}, { key: "Return" }],
  ["desktop_press", { keys: ["ctrl", "c"] }, {}, { keys: ["ctrl", "c"] }],
  ["desktop_find_text", { text: "OK" }, { found: true, x: 5, y: 6 }, { text: "OK", timeout: 5 }],
  ["desktop_clipboard_get", {}, { text: "copied", bytes: 6 }, undefined],
  ["desktop_clipboard_set", { text: "a" }, {}, { text: "a" }],
  ["desktop_windows", {}, { windows: [{ id: "w1", title: "Editor", focused: true }], count: 1 }, undefined],
  ["desktop_window", { window_id: "w1", action: "focus" }, {}, { window_id: "w1" }],
];

const refusals: readonly [string, object, RegExp][] = [
  ["desktop_screenshot", { width: 3 }, /give both or neither/],
  ["desktop_click", { x: -1, y: 0 }, /x must be a whole number of pixels/],
  ["desktop_press", { keys: [] }, /keys must name a key/],
];

it("the desktop of a cloud's sandbox is used if its toolset is asked for", async () => {
  const { agent, controlPlane } = await sandboxService(operations);
  const mcp = await connect({
    CLOUD_SANDBOX_API_KEY: "key",
    CLOUD_SANDBOX_BASE_URL: controlPlane.url,
    CLOUD_SANDBOX_MCP_TOOLSETS: "desktop",
  });
  try {
    const { tools } = await mcp.client.listTools();
    expect(new Set(tools.map(({ name }) => name))).toEqual(new Set(calls.map(([name]) => name)));
    for (const [name, given, expected, sent] of calls) {
      expect(await mcp.result(name, { sandbox_id: "abc", ...given })).toMatchObject(expected);
      if (sent !== undefined) expect(agent.requests.at(-1)?.json).toMatchObject(sent);
    }
    for (const [name, given, step] of refusals)
      expect(await mcp.failure(name, { sandbox_id: "abc", ...given })).toMatch(step);
    const { content } = await mcp.call("desktop_screenshot", { sandbox_id: "abc" });
    expect(content).toContainEqual({ type: "image", mimeType: "image/png", data: image });
    screen.image = "b29wcw==";
    const empty = await mcp.call("desktop_screenshot", { sandbox_id: "abc" });
    expect(empty.structuredContent).toMatchObject({
      note: expect.stringMatching(/not shown: take it again/),
    });
    expect(empty.content.map(({ type }) => type)).toEqual(["text"]);
  } finally {
    await mcp.client.close();
  }
});

it("the tools of the desktop are not offered by default", () => {
  expect(selectTools(hopx, {}).filter(({ toolset }) => toolset === "desktop")).toEqual([]);
});

it("a template without a desktop is named as the reason", async () => {
  const local = await connect({ CLOUD_SANDBOX_MCP_TOOLSETS: "default,desktop" });
  try {
    const { id: sandbox_id } = await local.result("create_sandbox");
    expect(await local.failure("desktop_screenshot", { sandbox_id })).toMatch(/list_templates/);
  } finally {
    await local.client.close();
  }
});

/** What a desktop needs, and the browser in it. */
const tags = [
  ...["tigervnc-standalone-server", "openbox", "xdotool", "wmctrl", "xclip", "imagemagick", "x11-utils"],
  ...["x11-xserver-utils", "xfonts-base", "tesseract-ocr", "chromium"],
];

it("an assistant fills a form in a browser, by what it sees", { tags, timeout: 400_000 }, async () => {
  const mcp = await connect({ CLOUD_SANDBOX_MCP_TOOLSETS: "default,desktop" });
  try {
    const { id: sandbox_id } = await mcp.result("create_sandbox", { template_id: "desktop" });
    const use = (name: string, given: object = {}) => mcp.result(name, { sandbox_id, ...given });
    await use("desktop_screenshot");
    const form =
      "<body style=font-size:40px>Name <input id=n style=font-size:40px onfocus=b.textContent='Send'><button id=b style=font-size:40px onclick=go()>Wait</button>";
    const script = "<script>function go(){document.body.textContent='Received from '+n.value}</script>";
    await use("file_write", { path: "form.html", content: form + script });
    const command =
      "chromium --no-sandbox --test-type --no-first-run --user-data-dir=/tmp/profile --disable-gpu --app=file:///workspace/form.html";
    await use("run_command_background", { command });
    // On a busy machine Chromium and Tesseract take longer than one call may.
    const found = async (text: string) => {
      let seen = await use("desktop_find_text", { text, timeout: 40 });
      for (let look = 1; look < 4 && seen.found === false; look += 1)
        seen = await use("desktop_find_text", { text, timeout: 40 });
      return seen as { x: number; y: number; width: number; height: number };
    };
    const label = await found("Name");
    // The field is right of its label.
    await use("desktop_click", { x: label.x + label.width + 120, y: label.y + 20 });
    // Shown when the field has the keyboard.
    const button = await found("Send");
    await use("desktop_type", { text: "Ada" });
    await use("desktop_click", { x: button.x + 10, y: button.y + 10 });
    expect(await found("Received from Ada")).toMatchObject({ found: true });
    const { content } = await mcp.call("desktop_screenshot", { sandbox_id });
    expect(content).toContainEqual(expect.objectContaining({ type: "image", mimeType: "image/png" }));
  } finally {
    await mcp.client.close();
  }
});

it("positions are those of the picture, which is scaled down if it is large", {
  tags: tags.slice(0, 8),
}, async () => {
  const mcp = await connect({ CLOUD_SANDBOX_MCP_TOOLSETS: "default,desktop" });
  try {
    const { id: sandbox_id } = await mcp.result("create_sandbox", { template_id: "desktop" });
    await mcp.result("desktop_screenshot", { sandbox_id });
    const run = async (command: string) =>
      String((await mcp.result("run_command", { sandbox_id, command })).stdout);
    await run("xrandr --output VNC-0 --mode 1920x1200");
    expect(await mcp.result("desktop_screenshot", { sandbox_id })).toMatchObject({
      width: 1568,
      height: 980,
    });
    await mcp.result("desktop_click", { sandbox_id, x: 784, y: 490 });
    expect(await run("xdotool getmouselocation")).toMatch(/^x:960 y:600 /);
  } finally {
    await mcp.client.close();
  }
});
