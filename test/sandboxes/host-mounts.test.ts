import { describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { cannotStartAs, startLocalServer } from "../support/local-server.js";
import { hostMountStatements, othersFilesStatements, rootMountStatements } from "./host-mount-statements.js";

const users = (["root", "an ordinary user"] as const).filter((who) => cannotStartAs(who) === undefined);

describe.each(users)("a directory of the machine, on a server that %s started,", (who) => {
  hostMountStatements((args) => startLocalServer({ who, args }));
});

describe("on a server that root started,", { tags: ["root"] }, () => {
  rootMountStatements((args) => startLocalServer({ args }));
  othersFilesStatements((args) => startLocalServer({ args }));
});

test("serve refuses an --allow-mount that is no directory", async () => {
  const { code, stderr } = await runBuilt("local", ["serve", "--allow-mount", "/no-such-directory"]);
  expect(code).toBe(1);
  expect(stderr).toContain('"/no-such-directory" cannot be mounted in sandboxes: it does not exist.');
});
