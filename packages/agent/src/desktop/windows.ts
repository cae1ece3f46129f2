import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Desktop } from "./desktop.js";
import type { DesktopProgram } from "./desktop-programs.js";
import type { ToolOutput } from "./desktop-tool.js";
import { printable } from "./printable.js";
import type { Region } from "./screen.js";

type Window = AgentSchemas["DesktopWindow"];

const mostWindows = 200;
const longestTitle = 1000;
/** How often windows are listed that open or close meanwhile. */
const mostAttempts = 5;
/** Looks for a window that is being brought back, and milliseconds between them. */
const mostLooks = 20;
const lookIntervalMs = 50;

/** The windows of a desktop. Titles and process ids are what their programs say, which may be false. */
export class Windows {
  constructor(private readonly desktop: Desktop) {}

  async list(signal: AbortSignal): Promise<Window[]> {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const { ids, active } = await this.#clients(signal);
      if (ids.length === 0) return [];
      const outputs = await Promise.all([
        this.#run("wmctrl", ["-lpu"], signal),
        this.#run("xwininfo", ["-root", "-tree", "-int"], signal),
        this.#run("xdotool", ["search", "--onlyvisible", "--name", ""], signal),
      ]);
      // A tool gives up at a window that closes meanwhile. xdotool fails without a word if no window is visible.
      if (outputs.some(({ code, stderr }) => code !== 0 && stderr !== "")) continue;
      const [listed = "", tree = "", visible = ""] = outputs.map(({ stdout }) => stdout.toString());
      const details = detailsIn(listed, ids);
      if (!details) continue;
      const bounds = boundsIn(tree, new Set(ids));
      const shown = new Set(visible.split("\n").map(Number));
      return details.map((window) => ({
        ...window,
        ...bounds.get(Number(window.id)),
        focused: Number(window.id) === active,
        is_active: Number(window.id) === active,
        is_minimized: !shown.has(Number(window.id)),
      }));
    }
    throw new Problem(409, "DESKTOP_FAILED", "Windows open and close too fast to be listed.", {
      hint: "Try again, or end the program that opens them.",
    });
  }

  async focus(id: string, signal: AbortSignal): Promise<void> {
    const window = await this.#existing(id, signal);
    const wasShown = await this.#shownAt(window, signal);
    await this.#do("wmctrl", (number) => ["-i", "-a", number], id, signal);
    if (!wasShown) await this.#settled(window, signal);
  }

  async close(id: string, signal: AbortSignal): Promise<void> {
    await this.#do("wmctrl", (window) => ["-i", "-c", window], id, signal);
  }

  async minimize(id: string, signal: AbortSignal): Promise<void> {
    await this.#do("xdotool", (window) => ["windowminimize", window], id, signal);
  }

  async resize(id: string, width: number, height: number, signal: AbortSignal): Promise<void> {
    const geometry = `0,-1,-1,${width},${height}`;
    await this.#do("wmctrl", (window) => ["-i", "-r", window, "-e", geometry], id, signal);
  }

  /** The part of the screen that a window has: that of this id, or the focused one. */
  async region(id: string | undefined, signal: AbortSignal): Promise<Region> {
    const window = id === undefined ? await this.#focused(signal) : await this.#existing(id, signal);
    const shown = await this.#shownAt(window, signal);
    const { x = 0, y = 0, width = 0, height = 0 } = shown ?? {};
    const region = {
      ...{ x: Math.max(0, x), y: Math.max(0, y) },
      ...{ width: width + Math.min(0, x), height: height + Math.min(0, y) },
    };
    if (region.width > 0 && region.height > 0) return region;
    throw new Problem(409, "DESKTOP_FAILED", "The window is minimized or outside of the screen.", {
      hint: "Focus it first.",
    });
  }

  /** Where a window is. Undefined if it is minimized. */
  async #shownAt(window: number, signal: AbortSignal): Promise<Region | undefined> {
    const { code, stdout } = await this.#run("xwininfo", ["-id", String(window)], signal);
    if (code !== 0) throw notFound(String(window));
    const text = stdout.toString();
    if (lastIn(text, "Map State: IsView(able)") === undefined) return undefined;
    const [x, y, width, height] = [
      ...["Absolute upper-left X: +(-?\\d+)", "Absolute upper-left Y: +(-?\\d+)"],
      ...["Width: (\\d+)", "Height: (\\d+)"],
    ].map((line) => Number(lastIn(text, line))) as [number, number, number, number];
    return { x, y, width, height };
  }

  /** Waits until the window manager has brought a minimized window back, which it does in steps that are seen. */
  async #settled(window: number, signal: AbortSignal): Promise<void> {
    let last: string | undefined;
    for (let look = 0; look < mostLooks; look += 1) {
      const shown = await this.#shownAt(window, signal);
      const now = shown && JSON.stringify(shown);
      if (now !== undefined && now === last) return;
      last = now;
      await sleep(lookIntervalMs, undefined, { signal });
    }
  }

  async #focused(signal: AbortSignal): Promise<number> {
    const { ids, active } = await this.#clients(signal);
    // The window manager gives the focus to a window of its own when no other one has it.
    if (ids.includes(active)) return active;
    throw new Problem(404, "WINDOW_NOT_FOUND", "No window is focused.", {
      hint: "Focus one, or send its window_id. GET /desktop/windows/list has them.",
    });
  }

  async #do(
    command: DesktopProgram,
    args: (window: string) => readonly string[],
    id: string,
    signal: AbortSignal,
  ): Promise<void> {
    const window = `0x${(await this.#existing(id, signal)).toString(16)}`;
    // A window that has gone meanwhile makes the tool fail.
    await this.desktop.tool({ command, args: args(window), signal }, ({ code }) =>
      code === 0 ? undefined : notFound(id),
    );
  }

  /** The number of a window in the list. An id may be decimal or, with 0x, hexadecimal. */
  async #existing(id: string, signal: AbortSignal): Promise<number> {
    const number = /^(\d{1,10}|0x[0-9a-f]{1,8})$/i.test(id) ? Number(id) : 0;
    if ((await this.#clients(signal)).ids.includes(number)) return number;
    throw notFound(id);
  }

  /** The windows that the window manager knows, and the focused one, by their numbers. */
  async #clients(signal: AbortSignal): Promise<{ readonly ids: readonly number[]; readonly active: number }> {
    const properties = ["_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW"];
    const text = (await this.#run("xprop", ["-root", ...properties], signal)).stdout.toString();
    const [ids = [], active = []] = properties.map((name) => {
      const [, numbers = ""] = new RegExp(`^${name}\\(WINDOW\\): window id # (.*)$`, "m").exec(text) ?? [];
      return numbers.split(", ").map(Number);
    });
    return {
      ids: [...new Set(ids)].filter((id) => id > 0 && id < 2 ** 32).slice(0, mostWindows),
      active: active[0] ?? 0,
    };
  }

  async #run(command: DesktopProgram, args: readonly string[], signal: AbortSignal): Promise<ToolOutput> {
    await this.desktop.server();
    return this.desktop.run({ command, args, signal });
  }
}

/**
 * What wmctrl lists of these windows: a line for each, in their order. A title may have lines of its own, which look like another
 * window's. Undefined if a window is missing, because windows have opened or closed meanwhile.
 */
export function detailsIn(
  listed: string,
  ids: readonly number[],
): Pick<Window, "id" | "title" | "desktop" | "pid">[] | undefined {
  const found: Pick<Window, "id" | "title" | "desktop" | "pid">[] = [];
  for (const line of listed.split("\n")) {
    const [, id, desktop, pid, title = ""] =
      /^(0x[0-9a-f]{8}) +(-?\d{1,5}) +(\d{1,10}) +\S+ ?(.*)$/.exec(line) ?? [];
    if (found.length === ids.length || Number(id) !== ids[found.length]) continue;
    found.push({
      // In decimal, as xdotool and HOPX's clients have it.
      id: String(Number(id)),
      title: printable(title.slice(0, longestTitle)),
      desktop: Number(desktop),
      ...(Number(pid) > 0 && { pid: Number(pid) }),
    });
  }
  return found.length === ids.length ? found : undefined;
}

type Bounds = Pick<Window, "x" | "y" | "width" | "height">;

/**
 * Position on the screen and size of each window, from the tree that xwininfo prints. They end a line, after the title. Where a title has
 * lines that look like a window's, none are told.
 */
export function boundsIn(tree: string, ids: ReadonlySet<number>): Map<number, Bounds> {
  const found = new Map<number, Bounds | undefined>();
  for (const line of tree.split("\n")) {
    const [, number, width, height, x, y] =
      /^ +(\d{1,10}) .* (\d{1,5})x(\d{1,5})[+-]\S+ +([+-]-?\d+)([+-]-?\d+)$/.exec(line) ?? [];
    const id = Number(number);
    if (!ids.has(id)) continue;
    const bounds = { x: offset(x), y: offset(y), width: Number(width), height: Number(height) };
    found.set(id, found.has(id) ? undefined : bounds);
  }
  return new Map([...found].flatMap(([id, bounds]) => (bounds ? [[id, bounds] as const] : [])));
}

/** What the last such line has in its parentheses. xwininfo prints the title, which is hostile, first. */
const lastIn = (text: string, line: string): string | undefined =>
  [...text.matchAll(new RegExp(`^ +${line}$`, "gm"))].at(-1)?.[1];

/** `+12`, or `+-12` left of the screen. */
const offset = (text = ""): number => Number(text.replace(/^\+/, ""));

const notFound = (id: string): Problem =>
  new Problem(404, "WINDOW_NOT_FOUND", `There is no window ${printable(id)}.`, {
    hint: "GET /desktop/windows/list has those that are open.",
  });
