import type { Tool } from "./tool.js";
import { executeCode, executeCodeIsolated } from "./tools/code.js";
import { listProcesses, runCommand } from "./tools/commands.js";
import { envClear, envGet, envSet } from "./tools/environment.js";
import { fileExists, fileList, fileMkdir, fileRead, fileRemove, fileWrite } from "./tools/files.js";
import {
  createSandbox,
  deleteSandbox,
  getSandbox,
  health,
  listSandboxes,
  pauseSandbox,
  resumeSandbox,
  updateSandboxTimeout,
} from "./tools/sandboxes.js";
import { getAgentUrl, getSystemMetrics, getVmInfo, pingVm } from "./tools/system.js";
import { getTemplate, listTemplates } from "./tools/templates.js";

/** The default profile: the tools of HOPX's own server, in a fixed order. */
export const hopxProfile: readonly Tool[] = [
  executeCodeIsolated,
  executeCode,
  runCommand,
  listProcesses,
  fileRead,
  fileWrite,
  fileList,
  fileExists,
  fileRemove,
  fileMkdir,
  envGet,
  envSet,
  envClear,
  getSystemMetrics,
  getVmInfo,
  pingVm,
  getAgentUrl,
  health,
  createSandbox,
  listSandboxes,
  getSandbox,
  deleteSandbox,
  pauseSandbox,
  resumeSandbox,
  updateSandboxTimeout,
  listTemplates,
  getTemplate,
];
