import { access, constants, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DisplayedValue } from "cloud-sandbox";
import { CommandError } from "../../errors/command-error.js";
import type { Output } from "../../output/output.js";

const endings: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/svg+xml": "svg",
  "application/pdf": "pdf",
};

/** A plot that was saved: its type and path. */
export interface SavedPlot {
  readonly type: string;
  readonly path: string;
}

/**
 * Saves or shows the plots that a program displayed. Saves them in `directory` if it is given, which `makeDirectory` has made.
 * Otherwise shows them if the terminal can show images, and else saves them in a new directory if standard output is a terminal.
 */
export async function showPlots(
  displayed: readonly DisplayedValue[],
  directory: string | undefined,
  output: Output,
): Promise<SavedPlot[]> {
  const all = displayed.filter(({ type }) => Object.hasOwn(endings, type));
  const plots = all.filter(isReadable);
  const unreadable = all.length - plots.length;
  if (unreadable > 0) output.note(`plots left out, because their base64 is not valid: ${unreadable}.`);
  if (plots.length === 0) return [];
  if (directory === undefined && !output.isJson && showsImages()) {
    const left: DisplayedValue[] = [];
    for (const plot of plots) {
      const image = inlineImage(plot);
      if (image === undefined) left.push(plot);
      else output.write(image);
    }
    return left.length === 0 ? [] : save(left, await newDirectory(), output);
  }
  if (directory !== undefined) return save(plots, directory, output);
  if (process.stdout.isTTY && !output.isJson) return save(plots, await newDirectory(), output);
  output.note(`plots were displayed: ${plots.length}; --save-plots DIR keeps them.`);
  return [];
}

/** Whether a plot can be decoded: a program can display any text as an image. */
function isReadable(plot: DisplayedValue): boolean {
  try {
    plot.bytes();
    return true;
  } catch {
    return false;
  }
}

/** Makes the directory for plots. Call it before the program runs: afterwards its plots would be lost. */
export async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK);
  } catch (error) {
    throw new CommandError(
      "PLOTS_NOT_SAVED",
      `Plots cannot be saved in ${directory} (${(error as NodeJS.ErrnoException).code}).`,
      "Give --save-plots another directory.",
    );
  }
}

function newDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "cloud-sandbox-plots-"));
}

async function save(
  plots: readonly DisplayedValue[],
  directory: string,
  output: Output,
): Promise<SavedPlot[]> {
  if (plots.length === 0) return [];
  const saved: SavedPlot[] = [];
  for (const [index, plot] of plots.entries()) {
    const path = join(directory, `plot-${index + 1}.${endings[plot.type]}`);
    await replace(path, plot.bytes());
    saved.push({ type: plot.type, path });
    output.note(`plot saved in ${path}`);
  }
  return saved;
}

/**
 * Writes a file, and never through a link of that name: if the directory is mounted in the sandbox, its code can put links there
 * that lead to any file of this machine.
 */
async function replace(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await rm(path, { force: true });
    await writeFile(path, bytes, { flag: "wx" });
  } catch (error) {
    throw new CommandError(
      "PLOTS_NOT_SAVED",
      `${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`,
      "Give --save-plots another directory.",
    );
  }
}

/** Whether standard output is a terminal with iTerm2's protocol for images. tmux and screen do not pass it on. */
function showsImages(env: NodeJS.ProcessEnv = process.env): boolean {
  if (!process.stdout.isTTY || env.TMUX || env.STY) return false;
  return env.TERM_PROGRAM === "iTerm.app" || env.LC_TERMINAL === "iTerm2" || env.TERM_PROGRAM === "WezTerm";
}

/** The control sequence that shows an image. Undefined if the protocol does not show images of this type. */
function inlineImage(image: Pick<DisplayedValue, "text" | "type">): string | undefined {
  if (/svg|pdf/.test(image.type)) return undefined;
  const base64 = image.text().replaceAll(/\s/g, "");
  const size = Buffer.byteLength(base64, "base64");
  return `\u001b]1337;File=inline=1;preserveAspectRatio=1;size=${size}:${base64}\u0007\n`;
}
