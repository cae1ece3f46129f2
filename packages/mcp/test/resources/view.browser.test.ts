import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type FrameLocator, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect, type McpConnection } from "../support/mcp-connection.js";

const uri = "ui://cloud-sandbox/view";
/** The content security policy that the MCP Apps specification gives a page that names no domains. */
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'";
/** A host page: it shows the view in a frame, records its messages, and answers them as the test says. */
const hostPage = `<!doctype html><style>iframe{width:100%;height:900px;border:0}</style>
<iframe sandbox="allow-scripts" src="/view"></iframe><script>
const frame = document.querySelector("iframe");
window.said = [];
window.tell = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
addEventListener("message", async ({ data, source }) => {
  if (source !== frame.contentWindow) return;
  said.push(data);
  if (data.method === undefined || data.id === undefined) return;
  window.tell({ id: data.id, ...(await answer(data.method, data.params)) });
});
</script>`;

let mcp: McpConnection;
let server: Server;
const executablePath = "/usr/bin/chromium";
let browser: Browser | undefined;
let page: Page;
let view: FrameLocator;
let elsewhere: Server;
/** The requests to a server other than the host. */
let foreign: string[];
let hostContext: object;

beforeAll(async () => {
  mcp = await connect({ CLOUD_SANDBOX_BACKEND: "local" });
  const { contents } = await mcp.client.readResource({ uri });
  const html = contents[0] !== undefined && "text" in contents[0] ? contents[0].text : "";
  server = createServer((request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    if (request.url === "/view") response.setHeader("content-security-policy", policy);
    response.end(request.url === "/view" ? html : hostPage);
  }).listen(0, "127.0.0.1");
  elsewhere = createServer((request, response) => {
    foreign.push(String(request.url));
    response.end();
  }).listen(0, "127.0.0.1");
  await Promise.all([once(server, "listening"), once(elsewhere, "listening")]);
  if (existsSync(executablePath)) browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  elsewhere?.close();
  await mcp?.client.close();
});

/** Polls for up to 40 s, because a browser on a busy machine is slow. */
const poll = <Value>(ask: () => Value) => expect.poll(ask, { timeout: 40_000 });
const originOf = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
const inView = (expression: string): Promise<unknown> | undefined => page.frames()[1]?.evaluate(expression);
const messages = (): Promise<{ method: string; params: Record<string, unknown> }[]> =>
  page.evaluate("window.said");
const tell = (message: object): Promise<void> => page.evaluate(`window.tell(${JSON.stringify(message)})`);
/** Sends the view what a host sends after a call of a tool: the arguments, then the result. */
async function showCall(name: string, given: Record<string, unknown>): Promise<void> {
  await showResult(await mcp.call(name, given), given);
}
async function showResult(result: object, given: Record<string, unknown> = {}): Promise<void> {
  await tell({ method: "ui/notifications/tool-input", params: { arguments: given } });
  await tell({ method: "ui/notifications/tool-result", params: result });
}

beforeEach(async ({ skip }) => {
  if (browser === undefined) return skip("there is no Chromium here: apt-get install chromium");
  hostContext = {};
  foreign = [];
  page = await browser.newPage({ viewport: { width: 760, height: 900 } });
  await page.exposeFunction("answer", async (method: string, params: never) => {
    if (method === "ui/initialize") return { result: { hostContext, hostCapabilities: { serverTools: {} } } };
    if (method === "tools/call") return { result: await mcp.client.callTool(params) };
    return { result: {} };
  });
  await page.goto(originOf(server));
  view = page.frameLocator("iframe");
  await poll(async () => (await messages()).map(({ method }) => method)).toContain(
    "ui/notifications/initialized",
  );
  return () => page.close();
});

it("the view is named by the tools whose results it shows, and by no others", async () => {
  const { tools } = await mcp.client.listTools();
  const named = tools.filter(({ _meta }) => _meta !== undefined);
  expect(named.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["execute_code_isolated", "run_command", "list_templates", "get_template"]),
  );
  for (const { _meta } of named) expect(_meta).toEqual({ ui: { resourceUri: uri } });
  expect(named.map(({ name }) => name)).not.toContain("file_read");
});

it("the view is one file that loads nothing else", async () => {
  const { resources } = await mcp.client.listResources();
  expect(resources).toContainEqual(expect.objectContaining({ uri, mimeType: "text/html;profile=mcp-app" }));
  await showCall("list_templates", {});
  expect(foreign).toEqual([]);
});

describe("the template browser", () => {
  it("lists templates, searches them, shows one in full, and offers it to the conversation", async () => {
    await showCall("list_templates", { limit: 100 });
    const cards = view.locator("li button");
    await poll(() => cards.count()).toBeGreaterThan(1);
    const all = await cards.count();
    await screenshot("templates");
    await view.getByLabel("Search templates").fill("code-interpreter");
    await poll(() => cards.count()).toBeLessThan(all);
    await cards.first().click();
    // Wait for a field that list_templates does not give, so get_template was called.
    await poll(() => view.locator("dl").textContent()).toMatch(/resources/);
    await screenshot("template");
    await view.getByText("Use this template").click();
    await poll(messages).toContainEqual(
      expect.objectContaining({
        method: "ui/message",
        params: {
          role: "user",
          content: { type: "text", text: 'Create a sandbox from the template "code-interpreter".' },
        },
      }),
    );
    await view.getByText("All templates").click();
    await poll(() => view.getByLabel("Search templates").count()).toBe(1);
  });
});

describe("a program's result", () => {
  it("shows its output, its plot and its table", {
    tags: ["python3-ipython", "python3-matplotlib", "python3-pandas"],
  }, async () => {
    const { id } = await mcp.result("create_sandbox");
    const code = `
import matplotlib.pyplot as plt, pandas as pd
from IPython.display import display
plt.plot([100, 150, 200, 180, 220]); plt.title("Sales"); plt.show()
display(pd.DataFrame({"month": ["Jan", "Feb"], "sold": [100, 150]}))
print("mean 170")`;
    await showCall("execute_code_rich", { sandbox_id: id, code });
    await poll(() => inView("document.querySelector('img')?.naturalWidth")).toBeGreaterThan(100);
    await poll(() => view.getByText("mean 170").count()).toBeGreaterThan(0);
    await poll(() => view.frameLocator("iframe").getByText("Feb").count()).toBe(1);
    await screenshot("execution");
    expect(foreign).toEqual([]);
  });

  it("shows that it failed", async () => {
    await showCall("execute_code_isolated", { code: "raise SystemExit(3)" });
    await poll(() => view.locator("strong.bad").textContent()).toBe("exit code 3");
  });

  const hostile = `<img src=x onerror="parent.postMessage({jsonrpc:'2.0',method:'hacked'},'*')"><script>top.location='http://example.test/'</script>`;
  it.each([
    ["output", { stdout: hostile }],
    ["errors", { stderr: hostile }],
    ["a value", { result: hostile }],
    ["HTML", { rich_outputs: [{ type: "text/html", bytes: 9, data: hostile }] }],
    ["HTML that loads", { rich_outputs: [{ type: "text/html", bytes: 9, data: "LOADS" }] }],
    ["an unknown type", { rich_outputs: [{ type: hostile, bytes: 9, data: hostile }] }],
    ["a note", { note: hostile }],
  ])("that contains hostile code runs none of it as %s", async (_, hostileFacts) => {
    const address = originOf(elsewhere);
    const loads = `<img src="${address}/image"><iframe src="${address}/frame"></iframe><link rel=stylesheet href="${address}/style">`;
    const facts = JSON.parse(JSON.stringify(hostileFacts).replace('"LOADS"', JSON.stringify(loads)));
    const structuredContent = { exit_code: 0, stdout: "", stderr: "", execution_time: 0.1, ...facts };
    await showResult(
      { structuredContent, content: [{ type: "image", mimeType: "image/svg+xml", data: hostile }] },
      { code: hostile },
    );
    await poll(() => view.locator("strong.good").count()).toBe(1);
    // Wait for two frames: code in the text would have run before the second is drawn.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect((await messages()).map(({ method }) => method)).not.toContain("hacked");
    expect(await view.locator("img").count()).toBe(0);
    expect(foreign).toEqual([]);
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  });
});

it("the view shows a call that failed as a failure", async () => {
  await showCall("get_template", { name: "nothing" });
  await poll(() => view.locator("p.bad").textContent()).toMatch(/list_templates/);
});

it("the view uses the theme of its host, and reports its size", async () => {
  await tell({
    method: "ui/notifications/host-context-changed",
    params: { theme: "dark", styles: { variables: { "--color-background-primary": "rgb(1, 2, 3)" } } },
  });
  await poll(() => inView("getComputedStyle(document.body).backgroundColor")).toBe("rgb(1, 2, 3)");
  await poll(messages).toContainEqual(
    expect.objectContaining({
      method: "ui/notifications/size-changed",
      params: { width: expect.any(Number), height: expect.any(Number) },
    }),
  );
});

it("the view answers its host before it is removed", async () => {
  await tell({ id: 77, method: "ui/resource-teardown", params: { reason: "closed" } });
  await poll(messages).toContainEqual({ jsonrpc: "2.0", id: 77, result: {} });
});

it("the view ignores messages from a frame that shows a sandbox's HTML", async () => {
  await showResult({ content: [], structuredContent: { status: "as it was" } });
  await inView(
    "postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: { structuredContent: { status: 'forged' } } }, '*')",
  );
  await tell({ id: 78, method: "ping" });
  await poll(messages).toContainEqual({ jsonrpc: "2.0", id: 78, result: {} });
  expect(await view.locator("main").textContent()).toContain("as it was");
});

/** Stores a screenshot for people to look at. */
async function screenshot(name: string): Promise<void> {
  const directory = fileURLToPath(new URL("../../../../node_modules/.cache/screenshots/", import.meta.url));
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: `${directory}${name}.png` });
}
