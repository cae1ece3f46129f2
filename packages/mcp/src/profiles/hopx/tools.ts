/** The tools of HOPX's own server, in the order in which they are listed. */

import { callApi } from "../../tools/api.js";
import { backgroundTools } from "../../tools/background.js";
import { codeTools, executeCodePersistent } from "../../tools/code.js";
import { commandTools } from "../../tools/commands.js";
import type { Tool } from "../../tools/definition/tool.js";
import { desktopTools } from "../../tools/desktop.js";
import { environmentTools } from "../../tools/environment.js";
import { fileTools } from "../../tools/files.js";
import { sandboxTools } from "../../tools/sandboxes.js";
import { olderSystemTools, systemTools } from "../../tools/system.js";
import { templateTools } from "../../tools/templates.js";

export const tools: readonly Tool[] = [
  ...codeTools,
  ...backgroundTools,
  ...commandTools,
  ...fileTools,
  ...environmentTools,
  ...systemTools,
  ...sandboxTools,
  ...templateTools,
  ...desktopTools,
  executeCodePersistent,
  ...olderSystemTools,
  callApi,
];
