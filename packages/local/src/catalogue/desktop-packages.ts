import { existsSync } from "node:fs";

/** Debian packages of the template `desktop`, each with a file by which it is recognized. */
const packages: Readonly<Record<string, string>> = {
  "tigervnc-standalone-server": "/usr/bin/Xtigervnc",
  openbox: "/usr/bin/openbox",
  xdotool: "/usr/bin/xdotool",
  wmctrl: "/usr/bin/wmctrl",
  xclip: "/usr/bin/xclip",
  imagemagick: "/usr/bin/import",
  "x11-utils": "/usr/bin/xprop",
  "x11-xserver-utils": "/usr/bin/xrandr",
  "xfonts-base": "/usr/share/fonts/X11/misc",
};

/** Packages that a desktop works without: for the live view, text on the screen, recordings, the browser and a terminal. */
const optional: Readonly<Record<string, string>> = {
  novnc: "/usr/share/novnc/core/rfb.js",
  "tesseract-ocr": "/usr/bin/tesseract",
  ffmpeg: "/usr/bin/ffmpeg",
  chromium: "/usr/bin/chromium",
  xterm: "/usr/bin/xterm",
};

/** Whether sandboxes that see this machine's `/usr` can have a desktop. */
export const hasDesktop = (): boolean => Object.values(packages).every((file) => existsSync(file));

/** The packages that the template `desktop` lacks on this machine, also those that only some operations need. */
export function missingDesktopPackages(): readonly string[] {
  return Object.entries({ ...packages, ...optional })
    .filter(([, file]) => !existsSync(file))
    .map(([name]) => name);
}
