import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Desktop } from "./desktop.js";
import type { DesktopProgram } from "./desktop-programs.js";
import { printable } from "./printable.js";

type Window = AgentSchemas["DesktopWindow"];

const mostWindows = 200;
const longestTitle = 1000;

/** The windows of a desktop. Titles and process ids are what their programs say, which may be false. */
export class Windows {
  constructor(private readonly desktop: Desktop) {}

  async list(signal: AbortSignal): Promise<Window[]> {
    const [listed, tree, visible, active] = await Promise.all([
      this.#text("wmctrl", ["-lpu"], signal),
      this.#text("xwininfo", ["-root", "-tree", "-int"], signal),
      this.#text("xdotool", ["search", "--onlyvisible", "--name", ""], signal),
      this.#active(signal),
    ]);
    const bounds = boundsIn(tree);
    const shown = new Set(visible.split("\n").map(Number));
    return [...listed.matchAll(/^(0x[0-9a-f]+)\s+(-?\d+)\s+(\d+)\s+\S+ ?(.*)$/gm)]
      .slice(0, mostWindows)
      .map(([, id, desktop, pid, title = ""]) => {
        const number = Number(id);
        return {
          // In decimal, as xdotool and HOPX's clients have it.
          id: String(number),
          title: printable(title.slice(0, longestTitle)),
          ...bounds.get(number),
          desktop: Number(desktop),
          ...(Number(pid) > 0 && { pid: Number(pid) }),
          focused: number === active,
          is_active: number === active,
          is_minimized: !shown.has(number),
        };
      });
  }

  async focus(id: string, signal: AbortSignal): Promise<void> {
    await this.#do("wmctrl", (window) => ["-i", "-a", window], id, signal);
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

  /** The number of the window to capture: that of this id, or the focused one. */
  async wanted(id: string | undefined, signal: AbortSignal): Promise<number> {
    if (id !== undefined) return this.#existing(id, signal);
    const active = await this.#active(signal);
    // The window manager gives the focus to a window of its own when no other one has it.
    if ((await this.#numbers(signal)).includes(active)) return active;
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
    if ((await this.#numbers(signal)).includes(number)) return number;
    throw notFound(id);
  }

  async #numbers(signal: AbortSignal): Promise<number[]> {
    const listed = await this.#text("wmctrl", ["-l"], signal);
    return [...listed.matchAll(/^0x[0-9a-f]+/gm)].map(([id]) => Number(id));
  }

  async #active(signal: AbortSignal): Promise<number> {
    const text = await this.#text("xprop", ["-root", "_NET_ACTIVE_WINDOW"], signal);
    return Number(/# (0x[0-9a-f]+)/.exec(text)?.[1] ?? 0);
  }

  /** The output of a tool, or nothing where it has nothing to list: wmctrl fails without windows, xdotool without a visible one. */
  async #text(command: DesktopProgram, args: readonly string[], signal: AbortSignal): Promise<string> {
    await this.desktop.server();
    return (await this.desktop.run({ command, args, signal })).stdout.toString();
  }
}

/** Position on the screen and size of each window, from the tree that xwininfo prints. They end a line, after the title. */
function boundsIn(tree: string): Map<number, Pick<Window, "x" | "y" | "width" | "height">> {
  const lines = tree.matchAll(/^\s+(\d+) .*\s(\d+)x(\d+)[+-]\S+\s+([+-]-?\d+)([+-]-?\d+)$/gm);
  return new Map(
    [...lines].map(([, id, width, height, x, y]) => [
      Number(id),
      { x: offset(x), y: offset(y), width: Number(width), height: Number(height) },
    ]),
  );
}

/** `+12`, or `+-12` left of the screen. */
const offset = (text = ""): number => Number(text.replace(/^\+/, ""));

const notFound = (id: string): Problem =>
  new Problem(404, "WINDOW_NOT_FOUND", `There is no window ${printable(id)}.`, {
    hint: "GET /desktop/windows/list has those that are open.",
  });
