import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import type { Desktop } from "./desktop.js";

type Size = AgentSchemas["Resolution"];
export type Region = AgentSchemas["ScreenRegion"];

/** The most bytes of an image. */
export const largestImage = 64 * 1024 * 1024;
/** The output of the X server, as xrandr calls it. */
const output = "VNC-0";

export interface Shot {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

export interface ShotOptions {
  /** Default: the whole screen. */
  readonly region?: Region | undefined;
  /** Scales the image down until neither side is longer, in pixels. */
  readonly maxEdge?: number | undefined;
  readonly signal: AbortSignal;
}

/** The screen of a desktop: its images and its size. */
export class Screen {
  constructor(private readonly desktop: Desktop) {}

  /** An image as PNG, compressed little: the best compression takes longer than all the rest. */
  async shot({ region, maxEdge, signal }: ShotOptions): Promise<Shot> {
    if (region) await this.#checkRegion(region, signal);
    const args = [
      ...["-silent", "-window", "root"],
      ...(region ? ["-crop", `${region.width}x${region.height}+${region.x}+${region.y}`, "+repage"] : []),
      ...(maxEdge === undefined ? [] : ["-resize", `${maxEdge}x${maxEdge}>`]),
      ...["-define", "png:compression-level=1", "-define", "png:exclude-chunks=date,time", "png:-"],
    ];
    const { stdout: bytes } = await this.desktop.tool({
      command: "import",
      args,
      maxBytes: largestImage,
      signal,
    });
    // Width and height are at a fixed place of every PNG.
    if (bytes.length < 24)
      throw new Problem(409, "DESKTOP_FAILED", "The desktop gave no image.", {
        // If the disk is full, ImageMagick may write nothing and say nothing.
        hint: "Make room if the disk of the sandbox is full, or try again.",
      });
    return { bytes, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }

  async size(signal: AbortSignal): Promise<Size & { depth: number; display: number }> {
    const { display } = await this.desktop.server();
    const { stdout } = await this.desktop.tool({ command: "xdpyinfo", args: [], signal });
    const text = stdout.toString();
    const [, width, height] = /dimensions:\s+(\d+)x(\d+) pixels/.exec(text) ?? [];
    const [, depth = "24"] = /depth of root window:\s+(\d+)/.exec(text) ?? [];
    if (width === undefined || height === undefined)
      throw new Problem(409, "DESKTOP_FAILED", "The X server did not tell the size of the screen.");
    return { display, width: Number(width), height: Number(height), depth: Number(depth) };
  }

  /** The sizes that the X server offers. Others can be set too. */
  async sizes(signal: AbortSignal): Promise<Size[]> {
    const { stdout } = await this.desktop.tool({ command: "xrandr", args: [], signal });
    const sizes = [...stdout.toString().matchAll(/^\s+(\d{2,5})x(\d{2,5})\s+\d/gm)].slice(0, 100);
    return sizes.map(([, width, height]) => ({ width: Number(width), height: Number(height) }));
  }

  async resize({ width, height }: Size, signal: AbortSignal): Promise<void> {
    const name = `${width}x${height}`;
    await this.desktop.server();
    const choose = ["--output", output, "--mode", name];
    const { code } = await this.desktop.run({ command: "xrandr", args: choose, signal });
    if (code === 0) return;
    const sides = [width, 0, 0, width, height, 0, 0, height].map(String);
    // It fails if an earlier call has made the mode.
    await this.desktop.run({ command: "xrandr", args: ["--newmode", name, "0", ...sides], signal });
    await this.desktop.tool({ command: "xrandr", args: ["--addmode", output, name], signal });
    await this.desktop.tool({ command: "xrandr", args: choose, signal });
  }

  async #checkRegion({ x, y }: Region, signal: AbortSignal): Promise<void> {
    const { width, height } = await this.size(signal);
    if (x < width && y < height) return;
    throw new Problem(
      400,
      "INVALID_REQUEST",
      `This part is outside the screen, which is ${width} pixels wide and ${height} high.`,
    );
  }
}
