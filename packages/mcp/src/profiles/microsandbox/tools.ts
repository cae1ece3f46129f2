import type { Tool } from "../../tools/definition/tool.js";
import { sandboxStart, sandboxStop } from "./lifecycle.js";
import { sandboxGetMetrics } from "./metrics.js";
import { sandboxRunCode, sandboxRunCommand } from "./running.js";

export const tools: readonly Tool[] = [
  sandboxRunCode,
  sandboxRunCommand,
  sandboxGetMetrics,
  sandboxStart,
  sandboxStop,
];
