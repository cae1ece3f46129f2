/** Decides which environment variables are shown to a model with their values, and which only by name. */

export const masked = "***MASKED***";

const secretName = /KEY|SECRET|PASSW|PASSPHRASE|TOKEN|CREDENTIAL|AUTH|PRIVATE|SIGNATURE|COOKIE|DSN/i;
/** `scheme://user:password@host`, wherever it is in the value. */
const credentialsInUrl = /[a-z][a-z0-9+.-]*:\/\/[^\s/@]*:[^\s/@]+@/i;
/** Prefixes of the keys of well-known services, and the first line of private keys. */
const keyShape =
  /\beyJ[\w-]{10}|\b(?:gh[opsu]_|github_pat_|glpat-|xox[abp]-|AKIA|hopx_|(?:sk|rk|pk)[-_])\w{8}|-----BEGIN /;

/** Whether a value is likely to be a secret: by its name, by what it holds, or because it looks random. */
export function looksSecret(name: string, value: string): boolean {
  if (secretName.test(name) || credentialsInUrl.test(value) || keyShape.test(value)) return true;
  // Test both readings of a slash: it may be a character of Base64, or separate two names in a path.
  const isBase64 = /^[A-Za-z\d+][A-Za-z\d+/]{19,}={0,2}$/.test(value);
  return (isBase64 && looksRandom(value)) || (value.match(/[\w+=~-]{20,}/g) ?? []).some(looksRandom);
}

/** Random keys have many different characters, with digits among the letters. Words and names do not. */
function looksRandom(text: string): boolean {
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text)) return false;
  if (text.split(/[-_]/).every((part) => /^(?:[A-Z]?[a-z]*|[A-Z]+|\d+)$/.test(part))) return false;
  const isHex = /^[\da-f]+$/i.test(text);
  return entropy(text) >= (isHex ? 3 : 3.7);
}

/** The entropy of the text, in bits for each character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const shares = [...counts.values()].map((count) => count / text.length);
  return -shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
}
