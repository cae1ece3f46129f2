/** The text in one line, without control characters: names come from sandboxes, and could control the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "�");
}

/** A text of several lines for a terminal, in which nothing but line ends and tabs controls it. */
export function printableLines(text: string): string {
  const parts = text.split(/(\r?\n|\t)/);
  return parts.map((part, index) => (index % 2 === 0 ? printable(part) : part)).join("");
}
