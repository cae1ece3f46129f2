// Generated from openapi/agent.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
import type { AgentOperations } from "@cloud-sandbox/protocol";
import * as validators from "#validators/agent";
import type { Contract } from "../router/contract.js";

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
    writeFile: { body: "overwrite" };
    listFiles: { query: "path" };
    renameFile: { body: "overwrite" };
    uploadFile: { query: "overwrite" };
    replaceEnvironment: { body: "merge" };
    mergeEnvironment: { body: "merge" };
    openTerminal: { query: "cols" | "rows" };
    startVnc: { body: "display" | "view_only" | "expires_in" };
    clickMouse: { body: "button" | "clicks" };
    dragMouse: { body: "button" };
    scrollMouse: { body: "direction" };
    startRecording: { body: "fps" | "format" | "quality" };
    recogniseText: { body: "language" };
    waitForElement: { body: "timeout" };
    startBrowser: { body: "expires_in" };
    getExecutionOutput: { query: "stdout_offset" | "stderr_offset" | "limit" | "wait" | "values" };
  };
  public: "getBanner" | "ping" | "getAgentHealth" | "getInfo" | "getSystem";
}

export const agentContract: Contract<AgentContract> = {
  name: "agent",
  operations: [
    { operationId: "getBanner", method: "GET", path: "/", authenticated: false, status: 200 },
    { operationId: "ping", method: "GET", path: "/ping", authenticated: false, status: 200 },
    { operationId: "getAgentHealth", method: "GET", path: "/health", authenticated: false, status: 200 },
    { operationId: "getInfo", method: "GET", path: "/info", authenticated: false, status: 200 },
    { operationId: "getSystem", method: "GET", path: "/system", authenticated: false, status: 200 },
    { operationId: "executeCode", method: "POST", path: "/execute", authenticated: true, status: 200, body: { validate: validators.executeCodeBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeRich", method: "POST", path: "/execute/rich", authenticated: true, status: 200, body: { validate: validators.executeRichBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeIpython", method: "POST", path: "/execute/ipython", authenticated: true, status: 200, body: { validate: validators.executeIpythonBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeBackground", method: "POST", path: "/execute/background", authenticated: true, status: 200, body: { validate: validators.executeBackgroundBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeAsync", method: "POST", path: "/execute/async", authenticated: true, status: 200, body: { validate: validators.executeAsyncBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "listExecutions", method: "GET", path: "/execute/processes", authenticated: true, status: 200 },
    { operationId: "killExecution", method: "DELETE", path: "/execute/kill", authenticated: true, status: 200, query: { validate: validators.killExecutionQuery, types: { "process_id": "string" }, units: {} } },
    { operationId: "streamExecution", method: "GET", path: "/execute/stream", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: validators.frameExecuteStreamRequest, units: { "timeout": "seconds" } }, "cancel": { validate: validators.frameCancel, units: {} } } },
    { operationId: "streamCode", method: "GET", path: "/stream", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: validators.frameExecuteStreamRequest, units: { "timeout": "seconds" } }, "cancel": { validate: validators.frameCancel, units: {} } } },
    { operationId: "streamIpython", method: "GET", path: "/stream/ipython", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: validators.frameExecuteStreamRequest, units: { "timeout": "seconds" } }, "cancel": { validate: validators.frameCancel, units: {} } } },
    { operationId: "runCommand", method: "POST", path: "/commands/run", authenticated: true, status: 200, body: { validate: validators.runCommandBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "runCommandBackground", method: "POST", path: "/commands/background", authenticated: true, status: 200, body: { validate: validators.runCommandBackgroundBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "streamCommand", method: "GET", path: "/commands/stream", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: validators.frameCommandStreamRequest, units: { "timeout": "seconds" } }, "command": { validate: validators.frameCommandStreamRequest, units: { "timeout": "seconds" } }, "stdin": { validate: validators.frameStdin, units: {} }, "stdin_close": { validate: validators.frameStdinClose, units: {} }, "signal": { validate: validators.frameSignal, units: {} }, "cancel": { validate: validators.frameCancel, units: {} } } },
    { operationId: "readFile", method: "GET", path: "/files/read", authenticated: true, status: 200, query: { validate: validators.readFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "writeFile", method: "POST", path: "/files/write", authenticated: true, status: 200, body: { validate: validators.writeFileBody, required: true, units: {} } },
    { operationId: "listFiles", method: "GET", path: "/files/list", authenticated: true, status: 200, query: { validate: validators.listFilesQuery, types: { "path": "string" }, units: {} } },
    { operationId: "fileExists", method: "GET", path: "/files/exists", authenticated: true, status: 200, query: { validate: validators.fileExistsQuery, types: { "path": "string" }, units: {} } },
    { operationId: "removeFile", method: "DELETE", path: "/files/remove", authenticated: true, status: 200, query: { validate: validators.removeFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "makeDirectory", method: "POST", path: "/files/mkdir", authenticated: true, status: 200, body: { validate: validators.makeDirectoryBody, required: true, units: {} } },
    { operationId: "renameFile", method: "POST", path: "/files/rename", authenticated: true, status: 200, body: { validate: validators.renameFileBody, required: true, units: {} } },
    { operationId: "statFile", method: "GET", path: "/files/stat", authenticated: true, status: 200, query: { validate: validators.statFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "uploadFile", method: "POST", path: "/files/upload", authenticated: true, status: 200, query: { validate: validators.uploadFileQuery, types: { "path": "string", "mode": "string", "overwrite": "boolean" }, units: {} } },
    { operationId: "downloadFile", method: "GET", path: "/files/download", authenticated: true, status: 200, query: { validate: validators.downloadFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "watchFiles", method: "GET", path: "/files/watch", authenticated: true, status: 101, upgrade: true, frames: { "watch": { validate: validators.frameWatchRequest, units: {} }, "unwatch": { validate: validators.frameUnwatchRequest, units: {} } } },
    { operationId: "getEnvironment", method: "GET", path: "/env", authenticated: true, status: 200 },
    { operationId: "replaceEnvironment", method: "PUT", path: "/env", authenticated: true, status: 200, body: { validate: validators.replaceEnvironmentBody, required: true, units: {} } },
    { operationId: "clearEnvironment", method: "DELETE", path: "/env", authenticated: true, status: 200 },
    { operationId: "mergeEnvironment", method: "PATCH", path: "/env", authenticated: true, status: 200, body: { validate: validators.mergeEnvironmentBody, required: true, units: {} } },
    { operationId: "listSystemProcesses", method: "GET", path: "/processes", authenticated: true, status: 200 },
    { operationId: "getMetrics", method: "GET", path: "/metrics", authenticated: true, status: 200 },
    { operationId: "getMetricsSnapshot", method: "GET", path: "/metrics/snapshot", authenticated: true, status: 200 },
    { operationId: "getPrometheusMetrics", method: "GET", path: "/metrics/prometheus", authenticated: true, status: 200 },
    { operationId: "getCacheStats", method: "GET", path: "/cache/stats", authenticated: true, status: 200 },
    { operationId: "clearCache", method: "POST", path: "/cache/clear", authenticated: true, status: 200 },
    { operationId: "listJupyterSessions", method: "GET", path: "/jupyter/sessions", authenticated: true, status: 200 },
    { operationId: "openTerminal", method: "GET", path: "/terminal", authenticated: true, status: 101, upgrade: true, frames: { "input": { validate: validators.frameTerminalInput, units: {} }, "resize": { validate: validators.frameTerminalResize, units: {} } }, query: { validate: validators.openTerminalQuery, types: { "cols": "integer", "rows": "integer", "shell": "string", "session": "string", "received": "integer" }, units: {} } },
    { operationId: "startVncByGet", method: "GET", path: "/desktop/vnc/start", authenticated: true, status: 200 },
    { operationId: "startVnc", method: "POST", path: "/desktop/vnc/start", authenticated: true, status: 200, body: { validate: validators.startVncBody, required: false, units: { "expires_in": "seconds" } } },
    { operationId: "stopVncByGet", method: "GET", path: "/desktop/vnc/stop", authenticated: true, status: 200 },
    { operationId: "stopVnc", method: "POST", path: "/desktop/vnc/stop", authenticated: true, status: 200 },
    { operationId: "getVncStatus", method: "GET", path: "/desktop/vnc/status", authenticated: true, status: 200 },
    { operationId: "getVncInfo", method: "GET", path: "/desktop/vnc/info", authenticated: true, status: 200 },
    { operationId: "clickMouse", method: "POST", path: "/desktop/mouse/click", authenticated: true, status: 200, body: { validate: validators.clickMouseBody, required: true, units: {} } },
    { operationId: "moveMouse", method: "POST", path: "/desktop/mouse/move", authenticated: true, status: 200, body: { validate: validators.moveMouseBody, required: true, units: {} } },
    { operationId: "dragMouse", method: "POST", path: "/desktop/mouse/drag", authenticated: true, status: 200, body: { validate: validators.dragMouseBody, required: true, units: {} } },
    { operationId: "scrollMouse", method: "POST", path: "/desktop/mouse/scroll", authenticated: true, status: 200, body: { validate: validators.scrollMouseBody, required: true, units: {} } },
    { operationId: "typeText", method: "POST", path: "/desktop/keyboard/type", authenticated: true, status: 200, body: { validate: validators.typeTextBody, required: true, units: {} } },
    { operationId: "pressKey", method: "POST", path: "/desktop/keyboard/press", authenticated: true, status: 200, body: { validate: validators.pressKeyBody, required: true, units: {} } },
    { operationId: "pressKeyCombination", method: "POST", path: "/desktop/keyboard/combination", authenticated: true, status: 200, body: { validate: validators.pressKeyCombinationBody, required: true, units: {} } },
    { operationId: "getClipboard", method: "GET", path: "/desktop/clipboard/get", authenticated: true, status: 200 },
    { operationId: "setClipboard", method: "POST", path: "/desktop/clipboard/set", authenticated: true, status: 200, body: { validate: validators.setClipboardBody, required: true, units: {} } },
    { operationId: "getClipboardHistory", method: "GET", path: "/desktop/clipboard/history", authenticated: true, status: 200 },
    { operationId: "takeScreenshotByGet", method: "GET", path: "/desktop/screenshot", authenticated: true, status: 200, query: { validate: validators.takeScreenshotByGetQuery, types: { "max_edge": "integer" }, units: {} } },
    { operationId: "takeScreenshot", method: "POST", path: "/desktop/screenshot", authenticated: true, status: 200, query: { validate: validators.takeScreenshotQuery, types: { "max_edge": "integer" }, units: {} } },
    { operationId: "takeRegionScreenshot", method: "POST", path: "/desktop/screenshot/region", authenticated: true, status: 200, query: { validate: validators.takeRegionScreenshotQuery, types: { "max_edge": "integer" }, units: {} }, body: { validate: validators.takeRegionScreenshotBody, required: true, units: {} } },
    { operationId: "startRecording", method: "POST", path: "/desktop/recording/start", authenticated: true, status: 200, body: { validate: validators.startRecordingBody, required: false, units: {} } },
    { operationId: "stopRecording", method: "POST", path: "/desktop/recording/stop", authenticated: true, status: 200, body: { validate: validators.stopRecordingBody, required: false, units: {} } },
    { operationId: "getRecordingStatus", method: "GET", path: "/desktop/recording/status", authenticated: true, status: 200, query: { validate: validators.getRecordingStatusQuery, types: { "id": "string" }, units: {} } },
    { operationId: "downloadRecording", method: "GET", path: "/desktop/recording/download", authenticated: true, status: 200, query: { validate: validators.downloadRecordingQuery, types: { "id": "string" }, units: {} } },
    { operationId: "listWindows", method: "GET", path: "/desktop/windows/list", authenticated: true, status: 200 },
    { operationId: "listWindowsShort", method: "GET", path: "/desktop/windows", authenticated: true, status: 200 },
    { operationId: "focusWindow", method: "POST", path: "/desktop/windows/focus", authenticated: true, status: 200, body: { validate: validators.focusWindowBody, required: true, units: {} } },
    { operationId: "closeWindow", method: "POST", path: "/desktop/windows/close", authenticated: true, status: 200, body: { validate: validators.closeWindowBody, required: true, units: {} } },
    { operationId: "resizeWindow", method: "POST", path: "/desktop/windows/resize", authenticated: true, status: 200, body: { validate: validators.resizeWindowBody, required: true, units: {} } },
    { operationId: "minimizeWindow", method: "POST", path: "/desktop/windows/minimize", authenticated: true, status: 200, body: { validate: validators.minimizeWindowBody, required: true, units: {} } },
    { operationId: "getDisplay", method: "GET", path: "/desktop/display/current", authenticated: true, status: 200 },
    { operationId: "getDisplayInfo", method: "GET", path: "/desktop/display/info", authenticated: true, status: 200 },
    { operationId: "getDisplayShort", method: "GET", path: "/desktop/display", authenticated: true, status: 200 },
    { operationId: "listResolutions", method: "GET", path: "/desktop/display/available", authenticated: true, status: 200 },
    { operationId: "listResolutionsAlias", method: "GET", path: "/desktop/display/resolutions", authenticated: true, status: 200 },
    { operationId: "setResolution", method: "POST", path: "/desktop/display/set", authenticated: true, status: 200, body: { validate: validators.setResolutionBody, required: true, units: {} } },
    { operationId: "setResolutionAlias", method: "POST", path: "/desktop/display/resolution", authenticated: true, status: 200, body: { validate: validators.setResolutionAliasBody, required: true, units: {} } },
    { operationId: "recogniseText", method: "POST", path: "/desktop/x11/ocr", authenticated: true, status: 200, body: { validate: validators.recogniseTextBody, required: true, units: {} } },
    { operationId: "pressHotkey", method: "POST", path: "/desktop/x11/hotkey", authenticated: true, status: 200, body: { validate: validators.pressHotkeyBody, required: true, units: {} } },
    { operationId: "dragAndDrop", method: "POST", path: "/desktop/x11/drag-drop", authenticated: true, status: 200, body: { validate: validators.dragAndDropBody, required: true, units: {} } },
    { operationId: "dragAndDropAlias", method: "POST", path: "/desktop/x11/drag_drop", authenticated: true, status: 200, body: { validate: validators.dragAndDropAliasBody, required: true, units: {} } },
    { operationId: "findElement", method: "POST", path: "/desktop/x11/find_element", authenticated: true, status: 200, body: { validate: validators.findElementBody, required: true, units: {} } },
    { operationId: "waitForElement", method: "POST", path: "/desktop/x11/wait_for", authenticated: true, status: 200, body: { validate: validators.waitForElementBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "getElementBounds", method: "POST", path: "/desktop/x11/get_bounds", authenticated: true, status: 200, body: { validate: validators.getElementBoundsBody, required: true, units: {} } },
    { operationId: "captureWindow", method: "GET", path: "/desktop/x11/capture_window", authenticated: true, status: 200, query: { validate: validators.captureWindowQuery, types: { "window_id": "string" }, units: {} } },
    { operationId: "startBrowser", method: "POST", path: "/desktop/browser", authenticated: true, status: 200, body: { validate: validators.startBrowserBody, required: false, units: { "expires_in": "seconds" } } },
    { operationId: "getDesktopLogs", method: "GET", path: "/desktop/debug/logs", authenticated: true, status: 200 },
    { operationId: "listDesktopProcesses", method: "GET", path: "/desktop/debug/processes", authenticated: true, status: 200 },
    { operationId: "uploadUpdate", method: "POST", path: "/update/upload", authenticated: true, status: 200 },
    { operationId: "applyUpdate", method: "POST", path: "/update/apply", authenticated: true, status: 200 },
    { operationId: "restartAgent", method: "POST", path: "/update/restart", authenticated: true, status: 200 },
    { operationId: "listUpdateBackups", method: "GET", path: "/update/backups", authenticated: true, status: 200 },
    { operationId: "getExecutionOutput", method: "GET", path: "/execute/processes/{process_id}/output", authenticated: true, status: 200, query: { validate: validators.getExecutionOutputQuery, types: { "stdout_offset": "integer", "stderr_offset": "integer", "limit": "integer", "wait": "integer", "values": "boolean" }, units: {} } },
    { operationId: "killExecutionById", method: "POST", path: "/execute/kill/{process_id}", authenticated: true, status: 200 },
    { operationId: "killProcess", method: "POST", path: "/processes/{process_id}/kill", authenticated: true, status: 200 },
    { operationId: "deleteEnvironmentVariable", method: "DELETE", path: "/env/{key}", authenticated: true, status: 200 },
    { operationId: "deleteJupyterSession", method: "DELETE", path: "/jupyter/sessions/{kernel_id}", authenticated: true, status: 200 },
    { operationId: "restartJupyterSession", method: "POST", path: "/jupyter/sessions/{kernel_id}/restart", authenticated: true, status: 200 },
    { operationId: "downloadRecordingById", method: "GET", path: "/desktop/recording/{recording_id}/download", authenticated: true, status: 200 },
  ],
};
