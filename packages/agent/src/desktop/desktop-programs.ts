import { Problem } from "@cloud-sandbox/server-kit";
import type { InstalledPrograms } from "../machine/installed-programs.js";

/** The programs that make a desktop, with the Debian packages that have them. */
export const desktopPrograms = {
  Xtigervnc: "tigervnc-standalone-server",
  openbox: "openbox",
  xdotool: "xdotool",
  wmctrl: "wmctrl",
  xclip: "xclip",
  import: "imagemagick",
  convert: "imagemagick",
  xdpyinfo: "x11-utils",
  xwininfo: "x11-utils",
  xprop: "x11-utils",
  xrandr: "x11-xserver-utils",
  xkbcomp: "x11-xkb-utils",
  xsetroot: "x11-xserver-utils",
} as const;

/** Programs that single operations need. */
const extraPrograms = { ffmpeg: "ffmpeg", tesseract: "tesseract-ocr", chromium: "chromium" } as const;

export type DesktopProgram = keyof typeof desktopPrograms | keyof typeof extraPrograms;

/** Throws the problem that names the missing packages, unless all programs are installed. */
export async function requirePrograms(
  programs: InstalledPrograms,
  names: readonly DesktopProgram[],
): Promise<void> {
  const found = await Promise.all(names.map((name) => programs.has(name)));
  const missing = names.filter((_, index) => !found[index]);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((name) => ({ ...desktopPrograms, ...extraPrograms })[name]))];
  throw desktopNotAvailable(
    `This sandbox's template lacks ${missing.length === 1 ? "a program" : "programs"} of the desktop: ${missing.join(", ")}.`,
    packages,
  );
}

/** The refusal where Debian packages are missing. */
export function desktopNotAvailable(summary: string, packages: readonly string[]): Problem {
  return new Problem(400, "DESKTOP_NOT_AVAILABLE", summary, {
    hint: `Use a template with the Debian ${packages.length === 1 ? "package" : "packages"} ${packages.join(", ")}; "cloud-sandbox-local setup desktop" installs what sandboxes of this machine need.`,
    details: { missing_packages: packages },
  });
}
