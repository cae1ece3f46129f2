import type { DisplayedValue } from "cloud-sandbox";
import { hasSixel } from "./device-attributes.js";

/** A protocol with which terminals show images. */
export type ImageProtocol = "kitty" | "iterm2" | "sixel";

/**
 * The protocol with which standard output can show images. Terminals with kitty's or iTerm2's are found by the environment
 * variables that they set; others are asked for sixel. Undefined if it is not such a terminal. tmux and screen pass on neither kitty's nor
 * iTerm2's; a tmux that shows sixel says so itself.
 */
export async function imageProtocol(
  env: NodeJS.ProcessEnv = process.env,
): Promise<ImageProtocol | undefined> {
  if (!process.stdout.isTTY) return undefined;
  if (!env.TMUX && !env.STY) {
    if (env.KITTY_WINDOW_ID || env.TERM === "xterm-kitty" || env.TERM_PROGRAM === "ghostty") return "kitty";
    const isIterm = env.TERM_PROGRAM === "iTerm.app" || env.LC_TERMINAL === "iTerm2";
    if (isIterm || env.TERM_PROGRAM === "WezTerm") return "iterm2";
  }
  return (await hasSixel()) ? "sixel" : undefined;
}

/** The control sequences that show an image. Undefined if the protocol does not show images of this type. */
export async function inlineImage(
  protocol: ImageProtocol,
  image: Pick<DisplayedValue, "text" | "type">,
): Promise<string | undefined> {
  const base64 = image.text().replaceAll(/\s/g, "");
  if (protocol === "iterm2" && !/svg|pdf/.test(image.type)) return iterm2Image(base64);
  if (image.type !== "image/png" || protocol === "iterm2") return undefined;
  if (protocol === "kitty") return kittyImage(base64);
  const { sixelImage } = await import("./sixel-image.js");
  return sixelImage(Buffer.from(base64, "base64"));
}

function iterm2Image(base64: string): string {
  const size = Buffer.byteLength(base64, "base64");
  return `\u001b]1337;File=inline=1;preserveAspectRatio=1;size=${size}:${base64}\u0007\n`;
}

function kittyImage(base64: string): string {
  const pieces = base64.match(/.{1,4096}/gs) ?? [];
  return `${pieces
    .map((piece, index) => {
      const more = index < pieces.length - 1 ? 1 : 0;
      return `\u001b_G${index === 0 ? `a=T,f=100,m=${more}` : `m=${more}`};${piece}\u001b\\`;
    })
    .join("")}\n`;
}
