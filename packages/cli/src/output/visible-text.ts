import stringWidth from "string-width";

/** The number of terminal columns that a text needs. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The beginning of a text that fits into so many columns. Ends in an ellipsis if something is left out. */
export function fitted(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** The text, filled up with spaces to so many columns. */
export function padded(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}
