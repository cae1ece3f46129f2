import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem, Reply } from "@cloud-sandbox/server-kit/portable";
import type { AgentHandlers } from "./agent-handlers.js";

/** A PNG of one pixel. */
const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const sizes = [
  { width: 1280, height: 800 },
  { width: 1024, height: 768 },
];

/**
 * A desktop without programs: a screen of one color and changing size, a clipboard, and nothing else. Mouse and keyboard
 * do nothing, no window is open and no text is found.
 */
export function desktopHandlers(now: () => Date) {
  let size = { width: 1280, height: 800 };
  const texts: string[] = [];
  let isShared = false;
  let recording: AgentSchemas["Recording"] | undefined;

  const done = (): AgentSchemas["DesktopActionResponse"] => ({
    success: true,
    timestamp: now().toISOString(),
  });
  const display = () => ({ ...size, depth: 24, display: 1 });
  const view = () => ({ running: isShared });
  const startView = () => {
    isShared = true;
    return { ...view(), display: 1, port: 6080, url: "http://127.0.0.1:6080/vnc.html" };
  };
  const stopView = () => {
    isShared = false;
    return view();
  };
  const shot = () =>
    new Reply(onlyChunk(Uint8Array.from(atob(onePixel), (letter) => letter.charCodeAt(0))), {
      "content-type": "image/png",
    });
  const setSize: AgentHandlers["setResolution"] = ({ body: { width, height } }) => {
    size = { width, height };
    return display();
  };
  const noWindow = () => {
    throw new Problem(404, "WINDOW_NOT_FOUND", "There is no such window: a desktop in memory has none.");
  };
  const current = () => {
    if (recording) return recording;
    throw new Problem(404, "RECORDING_NOT_FOUND", "There is no recording.");
  };
  const video = () => {
    current();
    return new Reply(onlyChunk(new Uint8Array(0)), { "content-type": "video/mp4" });
  };
  const nothing = () => ({ found: false, element: null });

  return {
    startVnc: startView,
    startVncByGet: startView,
    stopVnc: stopView,
    stopVncByGet: stopView,
    getVncStatus: view,
    getVncInfo: view,
    clickMouse: done,
    moveMouse: done,
    dragMouse: done,
    scrollMouse: done,
    dragAndDrop: done,
    dragAndDropAlias: done,
    typeText: done,
    pressKey: done,
    pressKeyCombination: done,
    pressHotkey: done,
    getClipboard: () => ({ content: texts[0] ?? "", text: texts[0] ?? "" }),
    setClipboard({ body }) {
      texts.unshift(body.content ?? body.text ?? "");
      return done();
    },
    getClipboardHistory: () => ({ history: texts, count: texts.length }),
    takeScreenshot: shot,
    takeScreenshotByGet: shot,
    takeRegionScreenshot: shot,
    captureWindow: noWindow,
    startRecording({ body }) {
      if (recording?.status === "recording")
        throw new Problem(409, "RECORDING_RUNNING", "A recording is running, and one at a time can.");
      recording = {
        recording_id: "recording-1",
        status: "recording",
        format: body?.format ?? "mp4",
        file_size: 0,
      };
      return recording;
    },
    stopRecording() {
      recording = { ...current(), status: "stopped" };
      return recording;
    },
    getRecordingStatus: current,
    downloadRecording: video,
    downloadRecordingById: video,
    listWindows: () => ({ windows: [], count: 0 }),
    listWindowsShort: () => ({ windows: [], count: 0 }),
    focusWindow: noWindow,
    closeWindow: noWindow,
    resizeWindow: noWindow,
    minimizeWindow: noWindow,
    getDisplay: display,
    getDisplayInfo: display,
    getDisplayShort: display,
    listResolutions: () => ({ resolutions: sizes }),
    listResolutionsAlias: () => ({ resolutions: sizes }),
    setResolution: setSize,
    setResolutionAlias: setSize,
    recogniseText: () => ({ text: "", confidence: 0 }),
    findElement: nothing,
    getElementBounds: nothing,
    waitForElement: () => ({ found: false }),
    getDesktopLogs: () => ({ logs: [] }),
    listDesktopProcesses: () => ({ processes: [] }),
  } satisfies AgentHandlers;
}

async function* onlyChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
