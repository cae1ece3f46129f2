// @module-tag openssl
import { describe } from "vitest";
import { type StartedBy, startLocalServer } from "../support/local-server.js";
import { secretStatements } from "./secret-statements.js";

describe.each<StartedBy>(["root", "an ordinary user"])("started by %s,", (who) => {
  // Only root can give a server a hosts file of its own.
  describe.skipIf(process.getuid?.() !== 0)("on bubblewrap,", () => {
    secretStatements((options) => startLocalServer({ ...options, who }));
  });
});
