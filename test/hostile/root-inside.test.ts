import { cannotStartAs, startLocalServer } from "../support/local-server.js";
import { asRoot } from "./as-root.js";
import { escaping, staying } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { hostileSuite } from "./hostile-suite.js";
import { kernel } from "./kernel.js";
import { reading, readingThroughFiles } from "./reading.js";
import { finding, sharing } from "./sharing.js";
import { takingOver } from "./taking-over.js";

const madeThere = "takes long, and is the same in sandboxes of an ordinary user (hostile.test.ts)";

hostileSuite({
  place: "that is root inside its sandbox",
  obstacle: cannotStartAs("root"),
  start: ({ args, ...options }) => startLocalServer({ ...options, args: ["--root-inside", ...args] }),
  ...{ isRoot: true, agentIsApart: false, codeIsRoot: true },
  attacks: [
    ...[...reading, ...kernel, ...finding, ...escaping, ...readingThroughFiles, ...sharing, ...staying],
    ...[...takingOver, ...exhausting, ...asRoot],
  ],
  notHere: {
    "have the agent start for ever": madeThere,
    "stop the agent, so that callers wait for ever": madeThere,
  },
});
