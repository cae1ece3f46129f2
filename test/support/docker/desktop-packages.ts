/** The packages of the image `desktop`, without the browser, which is large. */
export const desktopImagePackages: readonly string[] = [
  ...[
    "libc-bin",
    "python3",
    "procps",
    "util-linux",
    "tigervnc-standalone-server",
    "openbox",
    "xdotool",
    "wmctrl",
  ],
  ...[
    "xclip",
    "imagemagick",
    "x11-utils",
    "x11-xserver-utils",
    "xfonts-base",
    "fontconfig",
    "fonts-dejavu-core",
  ],
  ...["tesseract-ocr", "ffmpeg", "novnc", "xterm"],
];
