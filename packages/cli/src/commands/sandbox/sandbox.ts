import type { Command } from "commander";
import { addCreate } from "./create.js";
import { addDesktopCommands } from "./desktop.js";
import { addExec } from "./exec.js";
import { addForward } from "./forward.js";
import { addLink } from "./link.js";
import { addList } from "./list.js";
import { addLogs } from "./logs.js";
import { addMachineCommands } from "./machine.js";
import { addShell } from "./shell.js";
import { addSnapshotCommands } from "./snapshots.js";
import { addStateCommands } from "./state.js";
import { addUpdate } from "./update.js";

export function define(command: Command): void {
  command.enablePositionalOptions();
  for (const add of [
    addCreate,
    addList,
    addStateCommands,
    addUpdate,
    addSnapshotCommands,
    addExec,
    addShell,
    addLogs,
    addMachineCommands,
    addForward,
    addLink,
    addDesktopCommands,
  ])
    add(command);
}
