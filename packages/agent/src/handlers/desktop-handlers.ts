import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem, Reply } from "@cloud-sandbox/server-kit";
import type { DesktopParts } from "../desktop/desktop-parts.js";
import type { Shot } from "../desktop/screen.js";
import type { ViewerKey } from "../desktop/viewer-keys.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

/** The header in which the gateway says where ports of this sandbox are previewed, with `{port}` in place of the port. */
const previewHeader = "x-preview-url-template";
const shortestPassword = 6;
const defaultLinkSeconds = 3600;

/** The operations of the desktop. `open` loads what they need, with the first call. */
export function desktopHandlers(open: () => Promise<DesktopParts>) {
  /** The link that was made last. It is in the state of the view while it is valid. */
  let latest: { readonly url: string; readonly key: ViewerKey } | undefined;

  const vncStatus = async (): Promise<AgentSchemas["VncStatus"]> => {
    const parts = await open();
    if (latest?.key.revoked.aborted) latest = undefined;
    const server = await parts.desktop.running();
    if (!latest || !server) return { running: false };
    const { url, key } = latest;
    return { running: true, display: server.display, port: await parts.view.port(), url, ...keyFields(key) };
  };

  const startView = async (
    request: Partial<AgentSchemas["VncStartRequest"]>,
    preview: string | undefined,
  ) => {
    const { password, view_only: viewOnly = false, expires_in: seconds = defaultLinkSeconds } = request;
    if (password && password.length < shortestPassword)
      throw new Problem(400, "INVALID_REQUEST", `password needs at least ${shortestPassword} characters.`, {
        hint: "Without a password, the link has a random token.",
      });
    const parts = await open();
    parts.requireView();
    await parts.desktop.server();
    const port = await parts.view.port();
    const key = parts.view.views.issue(seconds, { password: password || undefined, viewOnly });
    const link = [...(password ? [] : [`key=${key.text}`]), ...(viewOnly ? ["view_only"] : [])].join("&");
    latest = { key, url: `${addressOf(preview, port)}vnc.html${link && `#${link}`}` };
    return vncStatus();
  };

  const stopView = async () => {
    const parts = await open();
    parts.view.stopViews();
    return vncStatus();
  };

  const image = async (shot: Promise<Shot>, accept = "*/*") => {
    const { bytes, width, height } = await shot;
    // HOPX's client for JavaScript names JSON, and reads base64 in it. That for Python reads bytes, and names nothing.
    if (!/^application\/json\b/i.test(accept)) return png(bytes);
    const size = bytes.length;
    return { image: bytes.toString("base64"), format: "png", width, height, size, timestamp: now() };
  };

  const screenshot: AgentHandlers["takeScreenshot"] = async ({ query, signal, header }) =>
    image((await open()).screen.shot({ maxEdge: query.max_edge, signal }), header("accept"));

  const windows = async ({ signal }: { signal: AbortSignal }) => {
    const listed = await (await open()).windows.list(signal);
    return { windows: listed, count: listed.length };
  };

  const display = async ({ signal }: { signal: AbortSignal }) => (await open()).screen.size(signal);
  const resolutions = async ({ signal }: { signal: AbortSignal }) => ({
    resolutions: await (await open()).screen.sizes(signal),
  });
  const setResolution: AgentHandlers["setResolution"] = async ({ body, signal }) => {
    const { screen } = await open();
    await screen.resize(body, signal);
    return screen.size(signal);
  };

  const drag: AgentHandlers["dragAndDrop"] = async ({ body, signal }) => {
    await (await open()).input.drag(body, signal);
    return done("dragged");
  };

  const press = async (keys: readonly string[], signal: AbortSignal) => {
    await (await open()).input.press(keys, signal);
    return done("pressed");
  };

  const find = async (text: string, signal: AbortSignal) => {
    const element = await (await open()).text.find(text, signal);
    return { found: element !== undefined, element: element ?? null };
  };

  const download = async (id: string | undefined) => {
    const { file, format } = await (await open()).recordings.open(id);
    using opened = file;
    const headers = { "content-type": `video/${format}`, "content-length": String(opened.size) };
    return new Reply(opened.size === 0 ? "" : opened.stream(0, opened.size - 1), headers);
  };

  return {
    startVnc: ({ body, header }) => startView(body ?? {}, header(previewHeader)),
    startVncByGet: ({ header }) => startView({}, header(previewHeader)),
    stopVnc: stopView,
    stopVncByGet: stopView,
    getVncStatus: vncStatus,
    getVncInfo: vncStatus,

    async clickMouse({ body, signal }) {
      await (await open()).input.click(body, signal);
      return done("clicked");
    },
    async moveMouse({ body, signal }) {
      await (await open()).input.move(body, signal);
      return done("moved");
    },
    async scrollMouse({ body, signal }) {
      await (await open()).input.scroll(body, signal);
      return done("scrolled");
    },
    dragMouse: drag,
    dragAndDrop: drag,
    dragAndDropAlias: drag,

    async typeText({ body, signal }) {
      await (await open()).input.type(body, signal);
      return done("typed");
    },
    pressKey: ({ body, signal }) => press([body.key], signal),
    pressKeyCombination: ({ body, signal }) => {
      const { keys, modifiers = [], key } = body;
      return press(keys ?? [...modifiers, ...(key === undefined ? [] : [key])], signal);
    },
    pressHotkey: ({ body, signal }) => press([...body.modifiers, body.key], signal),

    async getClipboard({ signal }) {
      const text = await (await open()).clipboard.text(signal);
      return { content: text, text };
    },
    async setClipboard({ body, signal }) {
      const text = body.content ?? body.text;
      if (text === undefined)
        throw new Problem(400, "MISSING_PARAMETER", "Send the text as content or as text.");
      await (await open()).clipboard.set(text, signal);
      return done("set");
    },
    async getClipboardHistory() {
      const history = [...(await open()).clipboard.history];
      return { history, count: history.length };
    },

    takeScreenshot: screenshot,
    takeScreenshotByGet: screenshot,
    takeRegionScreenshot: async ({ body, query, signal }) =>
      png((await (await open()).screen.shot({ region: body, maxEdge: query.max_edge, signal })).bytes),
    async captureWindow({ query, signal }) {
      const { windows: all, screen } = await open();
      return png((await screen.shot({ region: await all.region(query.window_id, signal), signal })).bytes);
    },

    startRecording: async ({ body, signal }) => (await open()).recordings.start(body ?? {}, signal),
    stopRecording: async ({ body }) => (await open()).recordings.stop(body?.recording_id),
    getRecordingStatus: async ({ query }) => (await open()).recordings.status(query.id),
    downloadRecording: ({ query }) => download(query.id),
    downloadRecordingById: ({ params }) => download(params.recording_id),

    listWindows: windows,
    listWindowsShort: windows,
    async focusWindow({ body, signal }) {
      await (await open()).windows.focus(String(body.window_id), signal);
      return done("focused");
    },
    async closeWindow({ body, signal }) {
      await (await open()).windows.close(String(body.window_id), signal);
      return done("closed");
    },
    async resizeWindow({ body, signal }) {
      await (await open()).windows.resize(String(body.window_id), body.width, body.height, signal);
      return done("resized");
    },
    async minimizeWindow({ body, signal }) {
      await (await open()).windows.minimize(String(body.window_id), signal);
      return done("minimized");
    },

    getDisplay: display,
    getDisplayInfo: display,
    getDisplayShort: display,
    listResolutions: resolutions,
    listResolutionsAlias: resolutions,
    setResolution,
    setResolutionAlias: setResolution,

    recogniseText: async ({ body, signal }) => (await open()).text.read(body, body.language, signal),
    findElement: ({ body, signal }) => find(body.text, signal),
    async getElementBounds({ body, signal }) {
      const found = await find(body.text, signal);
      return { ...found.element, ...found };
    },
    async waitForElement({ body, signal }) {
      const element = await (await open()).text.waitFor(body.text, body.timeout, signal);
      // HOPX's clients take an answer without an element for one that did not come.
      return element === undefined ? { found: false } : { found: true, element };
    },

    async startBrowser({ body, header }) {
      const { url, expires_in: seconds = defaultLinkSeconds } = body ?? {};
      const parts = await open();
      await parts.browser.start(url);
      const port = await parts.view.port();
      const key = parts.view.browsers.issue(seconds);
      const address = addressOf(header(previewHeader), port).replace(/^http/, "ws");
      return { url: `${address}devtools/${key.text}`, port, expires_at: keyFields(key).expires_at };
    },

    async getDesktopLogs() {
      return { logs: [...(await open()).desktop.log.lines] };
    },
    async listDesktopProcesses() {
      return { processes: await (await open()).desktop.processes() };
    },
  } satisfies AgentHandlers;
}

/** The address of a port, with a final slash. Callers that came without a gateway are on this machine. */
const addressOf = (preview: string | undefined, port: number): string =>
  preview?.replace("{port}", String(port)) ?? `http://127.0.0.1:${port}/`;

const keyFields = ({ viewOnly, expiresAt }: ViewerKey) => ({
  view_only: viewOnly,
  expires_at: new Date(expiresAt).toISOString(),
});

const png = (bytes: Buffer): Reply => new Reply(bytes, { "content-type": "image/png" });

const done = (what: string): AgentSchemas["DesktopActionResponse"] => ({
  success: true,
  message: what,
  timestamp: now(),
});
