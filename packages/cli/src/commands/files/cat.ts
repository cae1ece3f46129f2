import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { forEachNamed } from "../../command-line/for-each-named.js";
import { Copying } from "./copy.js";
import { remotePath } from "./path-argument.js";

export function define(command: Command): void {
  command.argument("<id:path...>", "files of sandboxes").action(
    action<object, [string[]]>(async (call, texts) => {
      const { output, signal } = call;
      await forEachNamed(texts.map(remotePath), call, async ({ path, sandbox: id }) => {
        const sandbox = await call.sandbox(id);
        if (output.isJson) output.json({ path, content: await sandbox.files.readText(path, { signal }) });
        else await new Copying(sandbox, output, signal).print(path);
      });
    }),
  );
}
