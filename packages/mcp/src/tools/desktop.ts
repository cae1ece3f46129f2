/** The graphical desktop of a sandbox whose template has one: seen as images, used as a person would. */
import { imageType, usableImage } from "@cloud-sandbox/server-kit/image-type";
import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { Answer, wireNames } from "../results/answer.js";
import { cutMiddle, firstEntries, resultBudget } from "../results/output-limit.js";
import { sandboxReference, text, wholeNumber, wholeSeconds } from "./definition/input-fields.js";
import {
  additive,
  destructive,
  executing,
  readOnlyInside,
  sandboxTool,
  type Tool,
} from "./definition/tool.js";

const pixels = z.int("must be a whole number of pixels").min(0, "must be a whole number of pixels");
const point = { x: pixels.describe("Pixels from the left"), y: pixels.describe("Pixels from the top") };
const size = {
  width: pixels.optional().describe("With height: only this part"),
  height: pixels.optional().describe("With width"),
};
/** The longest side of pictures, in pixels. Larger ones are scaled down by models, which then point at the wrong positions. */
const longestEdge = 1568;

/** Pixels of the screen for one of the last picture, by the id of the sandbox; only of those whose picture was scaled. */
const scales = new Map<string, number>();
const mostScales = 1000;

/** A position or length in the last picture, in pixels of the screen. */
const onScreen = ({ id }: { readonly id: string }, length: number): number =>
  Math.round(length * (scales.get(id) ?? 1));

/** Notes how much a picture of the whole screen was scaled down. */
function noteScale(id: string, pictureWidth: number, screenWidth: number | undefined): void {
  const scale = (screenWidth ?? pictureWidth) / pictureWidth;
  scales.delete(id);
  if (scale > 1) scales.set(id, scale);
  const [oldest] = scales.keys();
  if (scales.size > mostScales && oldest !== undefined) scales.delete(oldest);
}

/** Width and height of a PNG, which are at a fixed offset. */
function pngSize(bytes: Uint8Array): { width: number; height: number } | undefined {
  if (bytes.length < 24 || bytes[0] !== 0x89) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

const done = z.looseObject({ status: z.string() });
const ok = { status: "done" };

const desktopScreenshot = sandboxTool({
  name: "desktop_screenshot",
  title: "Look at the desktop",
  description: "Shows a sandbox's desktop, or a part of it, as an image. Positions are in pixels of it.",
  toolset: "desktop",
  annotations: readOnlyInside,
  input: z.object({
    ...sandboxReference,
    x: pixels.default(0).describe("Left edge of the part"),
    y: pixels.default(0).describe("Upper edge of the part"),
    ...size,
  }),
  output: z.looseObject({ format: z.string(), bytes: z.number(), note: z.string().optional() }),
  handler: async ({ sandbox, x, y, width, height, signal }) => {
    if ((width === undefined) !== (height === undefined))
      throw new InvalidArgumentsError(
        "width and height say together which part to show: give both or neither.",
      );
    const region =
      width === undefined || height === undefined
        ? undefined
        : {
            ...{ x: onScreen(sandbox, x), y: onScreen(sandbox, y) },
            ...{ width: onScreen(sandbox, width), height: onScreen(sandbox, height) },
          };
    const shot = await sandbox.desktop.screenshot(region, { maxEdge: longestEdge, signal });
    const { bytes, format = "png" } = shot;
    const size = pngSize(bytes) ?? shot;
    const mayBeScaled = region === undefined && size.width !== undefined && size.height !== undefined;
    if (mayBeScaled && Math.max(size.width ?? 0, size.height ?? 0) >= longestEdge)
      noteScale(sandbox.id, size.width ?? 1, (await sandbox.desktop.display({ signal })).width);
    else if (mayBeScaled) scales.delete(sandbox.id);
    const structure = {
      bytes: bytes.length,
      width: shot.width ?? size.width,
      height: shot.height ?? size.height,
    };
    const mimeType = imageType(bytes);
    if (mimeType === undefined) return { ...structure, format, note: noImage };
    const image = { type: "image" as const, data: Buffer.from(bytes).toString("base64"), mimeType };
    return new Answer({ ...structure, format: mimeType.slice("image/".length) }, { attachments: [image] });
  },
});

const position = (sandbox: { readonly id: string }, x: number, y: number) => ({
  x: onScreen(sandbox, x),
  y: onScreen(sandbox, y),
});

const noImage = `The desktop's picture is not ${usableImage}, so it is not shown: take it again, or a part of it.`;

const buttons = ["left", "right", "middle"] as const;

const desktopClick = sandboxTool({
  name: "desktop_click",
  title: "Click",
  description: "Clicks at a position of the desktop.",
  toolset: "desktop",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    ...point,
    button: z
      .enum(buttons, `must be one of ${buttons.join(", ")}`)
      .default("left")
      .describe("Mouse button"),
    clicks: wholeNumber(10).default(1).describe("1-10"),
  }),
  output: done,
  handler: async ({ sandbox, x, y, button, clicks, signal }) => {
    await sandbox.desktop.mouse.click(position(sandbox, x, y), { button, clicks, signal });
    return ok;
  },
});

const desktopDrag = sandboxTool({
  name: "desktop_drag",
  title: "Drag",
  description: "Moves the mouse from one position to another with the left button held down.",
  toolset: "desktop",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    ...point,
    to_x: pixels.describe("Pixels from the left, at the end"),
    to_y: pixels.describe("Pixels from the top, at the end"),
  }),
  output: done,
  handler: async ({ sandbox, x, y, to_x, to_y, signal }) => {
    await sandbox.desktop.mouse.drag(position(sandbox, x, y), position(sandbox, to_x, to_y), { signal });
    return ok;
  },
});

const directions = ["up", "down", "left", "right"] as const;

const desktopScroll = sandboxTool({
  name: "desktop_scroll",
  title: "Scroll",
  description: "Turns the mouse wheel at a position of the desktop.",
  toolset: "desktop",
  annotations: additive,
  input: z.object({
    ...sandboxReference,
    ...point,
    direction: z
      .enum(directions, `must be one of ${directions.join(", ")}`)
      .default("down")
      .describe("Where to"),
    amount: wholeNumber(100).default(3).describe("Notches, 1-100"),
  }),
  output: done,
  handler: async ({ sandbox, x, y, direction, amount, signal }) => {
    await sandbox.desktop.mouse.scroll(amount, { at: position(sandbox, x, y), direction, signal });
    return ok;
  },
});

const desktopType = sandboxTool({
  name: "desktop_type",
  title: "Type text",
  description: "Types text where the desktop has its focus.",
  toolset: "desktop",
  annotations: executing,
  input: z.object({ ...sandboxReference, text: text.describe("What to type") }),
  output: done,
  handler: async ({ sandbox, text, signal }) => {
    await sandbox.desktop.keyboard.type(text, { signal });
    return ok;
  },
});

const desktopPress = sandboxTool({
  name: "desktop_press",
  title: "Press keys",
  description: "Presses a key of the desktop, or several together, by their X11 names.",
  toolset: "desktop",
  annotations: executing,
  input: z.object({
    ...sandboxReference,
    keys: z
      .array(text, "must be a list of names of keys")
      .min(1, "must name a key")
      .describe('Such as ["Return"] or ["ctrl", "c"]'),
  }),
  output: done,
  handler: async ({ sandbox, keys, signal }) => {
    const [key, ...more] = keys;
    const { keyboard } = sandbox.desktop;
    if (key !== undefined && more.length === 0) await keyboard.press(key, { signal });
    else await keyboard.combination(keys, { signal });
    return ok;
  },
});

const desktopFindText = sandboxTool({
  name: "desktop_find_text",
  title: "Find text on the desktop",
  description: "Waits for a text on the desktop and says where it is.",
  toolset: "desktop",
  annotations: readOnlyInside,
  input: z.object({
    ...sandboxReference,
    text: text.describe("What to look for"),
    timeout: wholeSeconds(50).default(5).describe("Seconds to wait, 1-50"),
  }),
  output: z.looseObject({ found: z.boolean(), x: z.number().optional(), y: z.number().optional() }),
  handler: async ({ sandbox, text, timeout, signal }) => {
    const bounds = await sandbox.desktop.text.waitFor(text, { timeoutSeconds: timeout, signal });
    if (bounds === undefined) return { found: false };
    const scale = scales.get(sandbox.id) ?? 1;
    const { x = 0, y = 0, width = 0, height = 0, text: seen } = bounds;
    const [left, top, wide, high] = [x, y, width, height].map((length) => Math.round(length / scale));
    return { found: true, text: seen, x: left, y: top, width: wide, height: high };
  },
});

const desktopClipboardGet = sandboxTool({
  name: "desktop_clipboard_get",
  title: "Read the clipboard",
  description: "Reads the text in the desktop's clipboard.",
  toolset: "desktop",
  annotations: readOnlyInside,
  input: z.object({ ...sandboxReference }),
  output: z.looseObject({ text: z.string(), bytes: z.number() }),
  handler: async ({ sandbox, signal }) => {
    const { text, totalBytes } = cutMiddle(await sandbox.desktop.clipboard({ signal }), resultBudget);
    return { text, bytes: totalBytes };
  },
});

const desktopClipboardSet = sandboxTool({
  name: "desktop_clipboard_set",
  title: "Write the clipboard",
  description: "Puts text into the desktop's clipboard.",
  toolset: "desktop",
  annotations: destructive,
  input: z.object({ ...sandboxReference, text: text.describe("What to put there") }),
  output: done,
  handler: async ({ sandbox, text, signal }) => {
    await sandbox.desktop.setClipboard(text, { signal });
    return ok;
  },
});

const desktopWindows = sandboxTool({
  name: "desktop_windows",
  title: "List windows",
  description: "Lists the windows of the desktop.",
  toolset: "desktop",
  annotations: readOnlyInside,
  input: z.object({ ...sandboxReference }),
  output: z.looseObject({ windows: z.array(z.looseObject({})), count: z.number(), truncated: z.boolean() }),
  handler: async ({ sandbox, signal }) => {
    const windows = await sandbox.desktop.windows.list({ signal });
    const { items, truncated } = firstEntries(windows.map(wireNames), windows.length);
    return { windows: items, count: items.length, truncated };
  },
});

const actions = ["focus", "minimize", "close"] as const;

const desktopWindow = sandboxTool({
  name: "desktop_window",
  title: "Use a window",
  description: "Focuses, minimizes or closes a window of the desktop.",
  toolset: "desktop",
  annotations: destructive,
  input: z.object({
    ...sandboxReference,
    window_id: text.describe("id from desktop_windows"),
    action: z.enum(actions, `must be one of ${actions.join(", ")}`).describe("What to do with it"),
  }),
  output: done,
  handler: async ({ sandbox, window_id, action, signal }) => {
    await sandbox.desktop.windows[action](window_id, { signal });
    return ok;
  },
});

export const desktopTools: readonly Tool[] = [
  desktopScreenshot,
  desktopClick,
  desktopDrag,
  desktopScroll,
  desktopType,
  desktopPress,
  desktopFindText,
  desktopClipboardGet,
  desktopClipboardSet,
  desktopWindows,
  desktopWindow,
];
