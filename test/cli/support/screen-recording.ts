import { colouredRows, type Run } from "./coloured-rows.js";
import type { ColouredScreen, Tmux } from "./tmux.js";

interface Frame {
  readonly screen: ColouredScreen;
  readonly seconds: number;
}

/** Size of a character cell in the image, and the distance of the text from the edge. */
const cell = { width: 8.4, height: 18 };
const edge = 12;
const colours = { text: "#d4d4d8", background: "#18181b" };

/** A film of a terminal: screens, and how long each is shown. */
export class ScreenRecording {
  readonly #frames: Frame[] = [];

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {}

  /** Adds the screen as it is now. */
  async add(tmux: Tmux, seconds: number): Promise<void> {
    this.#frames.push({ screen: await tmux.colouredScreen(), seconds });
  }

  /**
   * The film as an animated SVG, which browsers play without a script. Readers who want no motion see the last screen.
   */
  svg(title: string): string {
    const width = this.columns * cell.width + 2 * edge;
    const height = this.rows * cell.height + 2 * edge;
    const total = this.#frames.reduce((sum, { seconds }) => sum + seconds, 0);
    let start = 0;
    const share = (seconds: number): string => `${((100 * seconds) / total).toFixed(2)}%`;
    const films = this.#frames.map(({ seconds }, index) => {
      const from = start === 0 ? "" : `0%{visibility:hidden}`;
      const until = index === this.#frames.length - 1 ? "" : `${share(start + seconds)}{visibility:hidden}`;
      const film = `@keyframes f${index}{${from}${share(start)}{visibility:visible}${until}}`;
      start += seconds;
      return `${film}\n#f${index}{animation-name:f${index}}`;
    });
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}" width="${number(width)}" height="${number(height)}" role="img" aria-label="${escaped(title)}">`,
      "<style>",
      "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}",
      ".frame{visibility:hidden}",
      ".frame:last-child{visibility:visible}",
      "@media (prefers-reduced-motion:no-preference){",
      `.frame{animation:${number(total)}s step-end infinite}`,
      ...films,
      "}",
      "</style>",
      `<rect width="100%" height="100%" rx="8" fill="${colours.background}"/>`,
      ...this.#frames.map(({ screen }, index) => `<g class="frame" id="f${index}">\n${frame(screen)}\n</g>`),
      "</svg>",
      "",
    ].join("\n");
  }
}

function frame({ cursor, text }: ColouredScreen): string {
  const shapes = colouredRows(text).flatMap((runs, row) => runs.map((run) => shape(run, row)));
  if (cursor !== undefined) shapes.push(box(cursor.column, cursor.row, 1, colours.text, ' opacity=".6"'));
  return shapes.filter((each) => each !== "").join("\n");
}

function shape(
  { background, bold, column, dim, foreground, inverse, text, width }: Run,
  row: number,
): string {
  const [front, back] = inverse
    ? [background ?? colours.background, foreground ?? colours.text]
    : [foreground ?? colours.text, background];
  const behind = back === undefined ? "" : box(column, row, width, back);
  if (text.trim() === "") return behind;
  const style = `${bold ? ' font-weight="700"' : ""}${dim ? ' opacity=".6"' : ""}`;
  const x = number(edge + column * cell.width);
  const y = number(edge + row * cell.height + 13);
  const length = `textLength="${number(width * cell.width)}" lengthAdjust="spacingAndGlyphs"`;
  return `${behind}<text x="${x}" y="${y}" ${length} fill="${front}"${style}>${escaped(text)}</text>`;
}

function box(column: number, row: number, width: number, fill: string, more = ""): string {
  const [x, y] = [edge + column * cell.width, edge + row * cell.height];
  return `<rect x="${number(x)}" y="${number(y)}" width="${number(width * cell.width)}" height="${cell.height}" fill="${fill}"${more}/>`;
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
