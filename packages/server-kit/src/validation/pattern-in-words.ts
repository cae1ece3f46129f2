/** Describes in words what a regular expression of the contracts accepts. The words follow the name of a field. */
export function patternInWords(pattern: string): string {
  return words[pattern] ?? "is not in the accepted form";
}

const words: Readonly<Record<string, string>> = {
  "^[^\\u0000]*$": "must not contain a null byte",
  "^[^/\\u0000-\\u001f]*$": "must not contain a slash or control characters",
  "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$":
    "must be 1 to 64 letters, digits, dots, dashes and underscores, with a letter or digit first",
  "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$":
    "must be lower-case letters, digits, dashes and dots, with a letter or digit at both ends",
  "^[A-Za-z_][A-Za-z0-9_]*$": "must be letters, digits and underscores, without a digit first",
  "^[A-Za-z0-9_-]{22,64}$": "must be 22 to 64 letters, digits, dashes and underscores",
  "^[!-~]+$": "must be ASCII characters without spaces",
  "^0?[0-7]{3}$": "must be three octal digits, as in 644",
};
