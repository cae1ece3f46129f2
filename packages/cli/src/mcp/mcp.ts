import type { Command } from "commander";
import { define as defineServe } from "./serve.js";

export function define(command: Command): void {
  defineServe(command.command("serve"));
}
