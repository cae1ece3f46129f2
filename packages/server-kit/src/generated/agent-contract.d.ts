// Generated from openapi/agent.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
import type { AgentOperations } from "@cloud-sandbox/protocol";
import type { Contract } from "../contract.js";

export interface AgentContract {
  operations: AgentOperations;
  defaults: {
    executeCode: { body: "language" | "timeout" | "cache" };
    executeRich: { body: "language" | "timeout" | "cache" | "capture_rich" };
    executeIpython: { body: "timeout" };
    executeBackground: { body: "language" | "timeout" };
    executeAsync: { body: "language" | "timeout" };
    runCommand: { body: "timeout" };
    runCommandBackground: { body: "timeout" };
    writeFile: { body: "mode" | "overwrite" };
    listFiles: { query: "path" };
    renameFile: { body: "overwrite" };
    replaceEnvironment: { body: "merge" };
    mergeEnvironment: { body: "merge" };
    openTerminal: { query: "cols" | "rows" };
    startVnc: { body: "display" };
    clickMouse: { body: "button" | "clicks" };
    dragMouse: { body: "button" };
    scrollMouse: { body: "direction" };
    startRecording: { body: "fps" | "format" | "quality" };
    recogniseText: { body: "language" };
    waitForElement: { body: "timeout" };
    getExecutionOutput: { query: "stdout_offset" | "stderr_offset" | "limit" | "wait" | "values" };
  };
  public: "getBanner" | "ping" | "getAgentHealth" | "getInfo" | "getSystem";
}

export declare const agentContract: Contract<AgentContract>;
