/** A protocol with which terminals show images. */
type Protocol = "kitty" | "iterm2";

/**
 * The protocol with which standard output can show images, found by the environment variables that terminals set. Undefined
 * if it is not such a terminal, and inside tmux and screen, which do not pass images on.
 */
export function imageProtocol(env: NodeJS.ProcessEnv = process.env): Protocol | undefined {
  if (!process.stdout.isTTY || env.TMUX || env.STY) return undefined;
  if (env.KITTY_WINDOW_ID || env.TERM === "xterm-kitty" || env.TERM_PROGRAM === "ghostty") return "kitty";
  const isIterm = env.TERM_PROGRAM === "iTerm.app" || env.LC_TERMINAL === "iTerm2";
  return isIterm || env.TERM_PROGRAM === "WezTerm" ? "iterm2" : undefined;
}

/** The control sequences that show an image, which is given as base64. kitty accepts only PNG. */
export function inlineImage(protocol: Protocol, base64: string): string {
  if (protocol === "iterm2") {
    const size = Buffer.byteLength(base64, "base64");
    return `\u001b]1337;File=inline=1;preserveAspectRatio=1;size=${size}:${base64}\u0007\n`;
  }
  const pieces = base64.match(/.{1,4096}/gs) ?? [];
  return `${pieces
    .map((piece, index) => {
      const more = index < pieces.length - 1 ? 1 : 0;
      return `\u001b_G${index === 0 ? `a=T,f=100,m=${more}` : `m=${more}`};${piece}\u001b\\`;
    })
    .join("")}\n`;
}
