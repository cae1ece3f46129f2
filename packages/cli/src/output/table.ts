import { printable } from "./printable.js";
import { fitted, padded, widthOf } from "./visible-text.js";

/** A column of a table: its title, and the text that it shows for a row. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | undefined;
  /** Whether a part of the text would be of no use, as of an id that is copied. Such a column is not narrowed. */
  readonly isWhole?: boolean;
}

const gap = 2;
/** The narrowest column, in characters. A narrower one could show nothing useful. */
const narrowest = 6;

interface TableLines {
  /** The line with the titles. Undefined if each row is a block of lines. */
  readonly titles?: string;
  readonly lines: readonly string[];
}

/**
 * The lines of a table that fit into `width`: the widest columns are cut, except those that are of no use in part. When there are too
 * many columns for that, each row becomes a block of lines with a title each. There, what is of no use in part may be longer than a line.
 */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width: number,
): TableLines {
  const cells = rows.map((row) => columns.map(({ value }) => printable(String(value(row) ?? "-"))));
  const titles = columns.map(({ title }) => title);
  const wanted = columns.map((_, index) =>
    Math.max(...[titles, ...cells].map((line) => widthOf(line[index] ?? ""))),
  );
  const widths = shrunk(wanted, columns, width - gap * (columns.length - 1));
  if (widths === undefined)
    return {
      lines: cells.flatMap((line, index) => [...(index > 0 ? [""] : []), ...block(columns, line, width)]),
    };
  const written = (line: readonly string[]): string =>
    line
      .map((cell, index) => padded(fitted(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(" ".repeat(gap))
      .trimEnd();
  return { titles: written(titles), lines: cells.map(written) };
}

/** Lines with a title and a value each, whole, however long. */
export function recordLines(entries: ReadonlyArray<readonly [string, unknown]>): string[] {
  const shown = entries.filter(([, value]) => value !== undefined);
  const longest = Math.max(0, ...shown.map(([title]) => widthOf(title)));
  return shown.map(([title, value]) => `${padded(title, longest)}  ${printable(String(value))}`);
}

function block(
  columns: readonly Pick<Column<never>, "title" | "isWhole">[],
  line: readonly string[],
  width: number,
): string[] {
  return columns.map(({ isWhole, title }, index) => {
    const whole = `${title}: ${line[index]}`;
    return isWhole === true ? whole : fitted(whole, width);
  });
}

/** Narrows the widest columns that may be cut until all fit. Undefined if a column would become too narrow. */
function shrunk(
  wanted: readonly number[],
  columns: ReadonlyArray<{ readonly isWhole?: boolean }>,
  width: number,
): number[] | undefined {
  const widths = [...wanted];
  const mayBeCut = (_: number, index: number): boolean => columns[index]?.isWhole !== true;
  const total = (): number => widths.reduce((sum, each) => sum + each, 0);
  while (total() > width) {
    const most = Math.max(...widths.filter(mayBeCut));
    const widest = widths.findIndex((each, index) => each === most && mayBeCut(each, index));
    const next = (widths[widest] ?? 0) - 1;
    if (next < narrowest) return undefined;
    widths[widest] = next;
  }
  return widths;
}
