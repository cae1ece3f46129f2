/** Replaces control characters by spaces: titles and logs are written by code in the sandbox, and are shown in terminals. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
