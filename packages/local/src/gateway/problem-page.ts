import type { Problem } from "@cloud-sandbox/server-kit";

/** A problem as an HTML page, for browsers. */
export function problemPage({ message, code }: Problem): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${inMarkup(code)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36em; margin: 15vh auto; padding: 0 1em; color-scheme: light dark }
code { opacity: .6 }
</style>
<p>${inMarkup(message)}</p>
<p><code>${inMarkup(code)}</code></p>
</html>
`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const inMarkup = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? "");
