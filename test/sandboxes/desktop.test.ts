// @module-tag tigervnc-standalone-server
// @module-tag openbox
// @module-tag xdotool
// @module-tag wmctrl
// @module-tag xclip
// @module-tag imagemagick
// @module-tag x11-utils
// @module-tag x11-xserver-utils
// @module-tag xterm
import { describe } from "vitest";
import { cannotStartAs, type StartedBy, startLocalServer } from "../support/local-server.js";
import { desktopStatements } from "./desktop-statements.js";

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

describe.each(startedBy)("a desktop in a sandbox of %s", (who) => {
  if (cannotStartAs(who) === undefined)
    desktopStatements(() => startLocalServer({ who, args: ["--pool", "0"] }));
});
