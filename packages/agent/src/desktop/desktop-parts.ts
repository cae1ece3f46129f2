import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FileService } from "../files/file-service.js";
import type { ServedTree } from "../files/served-tree.js";
import { Browser } from "./browser.js";
import { Clipboard } from "./clipboard.js";
import { Desktop, type DesktopOptions } from "./desktop.js";
import { desktopNotAvailable } from "./desktop-programs.js";
import { PointerAndKeys } from "./pointer-and-keys.js";
import { Recordings } from "./recordings.js";
import { Screen } from "./screen.js";
import { ScreenText } from "./screen-text.js";
import { novnc, ViewServer } from "./view-server.js";
import { Windows } from "./windows.js";

export interface DesktopPartsOptions extends DesktopOptions {
  readonly files: FileService;
  readonly tree: ServedTree;
  /** The directory of recordings without a path. */
  readonly recordings: string;
}

/** Everything that the operations of the desktop use. Loaded by the first of them. */
export class DesktopParts {
  readonly desktop: Desktop;
  readonly input: PointerAndKeys;
  readonly clipboard: Clipboard;
  readonly screen: Screen;
  readonly text: ScreenText;
  readonly windows: Windows;
  readonly recordings: Recordings;
  readonly browser: Browser;
  readonly view: ViewServer;

  constructor({ files, tree, recordings, ...options }: DesktopPartsOptions) {
    this.desktop = new Desktop(options);
    this.input = new PointerAndKeys(this.desktop);
    this.clipboard = new Clipboard(this.desktop);
    this.screen = new Screen(this.desktop);
    this.text = new ScreenText(this.desktop, this.screen);
    this.windows = new Windows(this.desktop);
    this.recordings = new Recordings(this.desktop, this.screen, files, tree, recordings);
    this.browser = new Browser(this.desktop);
    this.view = new ViewServer(this.desktop, this.browser);
  }

  /** Throws the problem that says what brings the live view, if its scripts are missing. */
  requireView(): void {
    if (existsSync(join(novnc, "core", "rfb.js"))) return;
    throw desktopNotAvailable("This sandbox's template lacks noVNC, which shows the live view.", ["novnc"]);
  }

  async close(): Promise<void> {
    await this.view.close();
    await this.desktop.close();
  }
}
