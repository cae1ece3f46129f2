/** Characters of a row that look the same. */
export interface Run extends Look {
  readonly column: number;
  /** In columns. */
  readonly width: number;
  readonly text: string;
}

interface Look {
  readonly foreground?: string | undefined;
  readonly background?: string | undefined;
  readonly bold?: boolean | undefined;
  readonly dim?: boolean | undefined;
  readonly inverse?: boolean | undefined;
}

/** The rows of a screen that tmux has captured with its colours. The screens of the tests have no wide characters. */
export function colouredRows(captured: string): Run[][] {
  let look: Look = {};
  return captured
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const runs: Run[] = [];
      let column = 0;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
      for (const [, codes, text = ""] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b\u000e\u000f]+)/g)) {
        if (codes !== undefined) look = changed(look, codes.split(";").map(Number));
        else {
          runs.push({ ...look, column, width: text.length, text });
          column += text.length;
        }
      }
      return runs;
    });
}

function changed(look: Look, codes: readonly number[]): Look {
  let next = look;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if ((code === 38 || code === 48) && codes[index + 1] === 5) {
      const colour = colourOf(codes[index + 2] ?? 0);
      next = { ...next, ...(code === 38 ? { foreground: colour } : { background: colour }) };
      index += 2;
    } else next = code === 0 ? {} : { ...next, ...changeBy(code) };
  }
  return next;
}

function changeBy(code: number): Look {
  if (code === 1) return { bold: true };
  if (code === 2) return { dim: true };
  if (code === 7) return { inverse: true };
  if (code === 22) return { bold: undefined, dim: undefined };
  if (code === 27) return { inverse: undefined };
  if (code === 39) return { foreground: undefined };
  if (code === 49) return { background: undefined };
  if (code >= 30 && code <= 37) return { foreground: palette[code - 30] };
  if (code >= 40 && code <= 47) return { background: palette[code - 40] };
  if (code >= 90 && code <= 97) return { foreground: palette[code - 82] };
  if (code >= 100 && code <= 107) return { background: palette[code - 92] };
  return {};
}

/** One of the 256 colours of terminals: 16 named ones, a cube, and greys. */
function colourOf(index: number): string | undefined {
  if (index < 16) return palette[index];
  const grey = 8 + (index - 232) * 10;
  const level = (value: number): number => (value === 0 ? 0 : 55 + 40 * value);
  const cube = [36, 6, 1].map((step) => level(Math.floor((index - 16) / step) % 6));
  return `rgb(${(index >= 232 ? [grey, grey, grey] : cube).join(",")})`;
}

const palette = [
  ...["#3f3f46", "#f87171", "#4ade80", "#facc15", "#60a5fa", "#c084fc", "#22d3ee", "#d4d4d8"],
  ...["#71717a", "#fca5a5", "#86efac", "#fde047", "#93c5fd", "#d8b4fe", "#67e8f9", "#fafafa"],
];
