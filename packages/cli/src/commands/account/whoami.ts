import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { chooseAccount } from "../../connection/account.js";
import { loginPath } from "../../connection/login-file.js";

export function define(command: Command): void {
  command.action(
    action(async ({ client, options, output, signal }) => {
      const account = chooseAccount(options.url);
      const opened = await client();
      const { isolation, runtime, version } = await opened.health({ signal });
      // A list asks for the key, which the server's health does not.
      for await (const _ of opened.sandboxes.list({ limit: 1, signal })) break;
      const keyFrom =
        account === undefined
          ? undefined
          : { environment: "the environment", login: loginPath() }[account.keyFrom];
      const where =
        account?.url ?? (opened.backend === "local" ? "this machine" : "the server of the environment");
      await output.record(
        {
          backend: opened.backend,
          url: account?.url,
          keyFrom: account?.keyFrom,
          version,
          runtime,
          isolation,
        },
        [
          ["server", where],
          ["key from", keyFrom],
          ["version", version],
          ["runtime", runtime],
          ["isolation", isolation],
        ],
      );
    }),
  );
}
