import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { loginPath, removeLogin } from "../../connection/login-file.js";

export function define(command: Command): void {
  command.action(
    action(async ({ output }) => {
      const wasThere = await removeLogin();
      output.done(wasThere ? "Logged out: the stored key is removed." : "There was no login.", {
        path: loginPath(),
        removed: wasThere,
      });
    }),
  );
}
