import type { DisplayedValue } from "cloud-sandbox";

/** Whether standard output is a terminal with iTerm2's protocol for images. tmux and screen do not pass it on. */
export function showsImages(env: NodeJS.ProcessEnv = process.env): boolean {
  if (!process.stdout.isTTY || env.TMUX || env.STY) return false;
  return env.TERM_PROGRAM === "iTerm.app" || env.LC_TERMINAL === "iTerm2" || env.TERM_PROGRAM === "WezTerm";
}

/** The control sequence that shows an image. Undefined if the protocol does not show images of this type. */
export function inlineImage(image: Pick<DisplayedValue, "text" | "type">): string | undefined {
  if (/svg|pdf/.test(image.type)) return undefined;
  const base64 = image.text().replaceAll(/\s/g, "");
  const size = Buffer.byteLength(base64, "base64");
  return `\u001b]1337;File=inline=1;preserveAspectRatio=1;size=${size}:${base64}\u0007\n`;
}
