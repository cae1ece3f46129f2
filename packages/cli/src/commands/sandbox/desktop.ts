import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { lifetime } from "../../command-line/option-values.js";
import { subcommand } from "../../command-line/subcommand.js";
import { moment } from "./sandbox-view.js";

interface ViewOptions {
  readonly viewOnly?: boolean;
  readonly expires: string;
}

/** The commands that show the desktop of a sandbox: screenshot, view. */
export function addDesktopCommands(parent: Command): void {
  subcommand(parent, "screenshot <id>", "save a picture of a sandbox's desktop as PNG")
    .argument("[file]", "where to; - for standard output", "screenshot.png")
    .action(
      action<object, [string, string]>(async ({ output, signal, ...call }, id, file) => {
        const { desktop } = await call.sandbox(id);
        const { bytes } = await desktop.screenshot(undefined, { signal });
        if (file === "-") return output.write(bytes);
        await writeFile(file, bytes);
        output.done(`The picture is in ${file}.`, { path: file, bytes: bytes.length });
      }),
    );
  subcommand(parent, "view <id>", "print a link that shows a sandbox's desktop in a browser")
    .option("--view-only", "let viewers look, without mouse and keyboard")
    .option("--expires <time>", "how long the link works, as in 90, 15m or 2h", "1h")
    .action(
      action<ViewOptions, [string]>(async ({ options, output, signal, ...call }, id) => {
        const expiresInSeconds = lifetime(options.expires);
        const { vnc } = (await call.sandbox(id)).desktop;
        const view = await vnc.start({ viewOnly: options.viewOnly === true, expiresInSeconds, signal });
        if (output.isJson) return output.json(view);
        output.line(view.url ?? "");
        if (view.expiresAt)
          output.note(`Whoever has the link sees the desktop, until ${moment(view.expiresAt)}.`);
      }),
    );
}
