import type { Command } from "commander";
import { handOver } from "../../command-line/hand-over.js";

export function define(command: Command): void {
  handOver(command, ["doctor"], () => import("cloud-sandbox-local/main"));
}
