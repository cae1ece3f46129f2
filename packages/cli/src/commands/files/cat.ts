import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { Copying } from "./copy.js";
import { remotePath } from "./path-argument.js";

export function define(command: Command): void {
  command.argument("<id:path...>", "files of sandboxes").action(
    action<object, [string[]]>(async ({ output, signal, ...call }, texts) => {
      for (const { path, sandbox: id } of texts.map(remotePath)) {
        const sandbox = await call.sandbox(id);
        if (output.isJson) output.json({ path, content: await sandbox.files.readText(path, { signal }) });
        else await new Copying(sandbox, output, signal).print(path);
      }
    }),
  );
}
