import { fileURLToPath } from "node:url";
import { SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type McpConnection, textOf } from "../../packages/mcp/test/support/mcp-connection.js";
import { type PackageServer, startPackageServer } from "../support/package-server.js";

const index = "packages.test";
const page = fileURLToPath(new URL("../../docs/reports/mcp-walk.md", import.meta.url));

let packages: PackageServer;
let local: LocalControlPlane;
let client: SandboxClient;
let mcp: McpConnection;

beforeAll(async () => {
  packages = await startPackageServer(index);
  local = await startLocalControlPlane({
    pool: 1,
    egress: {
      allowPrivate: [`${index}:${packages.httpsPort}`],
      resolve: async (asked) => (asked === index ? ["127.0.0.1"] : []),
    },
  });
  client = new SandboxClient({ apiKey: local.apiKey, baseUrl: local.url });
  mcp = await connect({ CLOUD_SANDBOX_API_KEY: local.apiKey, CLOUD_SANDBOX_BASE_URL: local.url });
});
afterAll(async () => {
  await mcp?.client.close();
  await client?.close();
  await local?.close();
  await packages?.[Symbol.asyncDispose]();
});

/** Parts of answers that differ from run to run, with what replaces them on the page. */
const varying: [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
  [/(execution_time|duration|waited|uptime): [\d.]+/g, "$1: <seconds>"],
  [/https?:\/\/(127\.0\.0\.1|localhost):\d+\S*/g, "<url>"],
  [/("bytes":|size: )\d{4,}/g, "$1<bytes>"],
  [/Successfully installed hello-pip-\S+/g, "Successfully installed hello-pip-<version>"],
  [/resources: \{.*\}/g, "resources: <those of the template>"],
  [/isolation: \w+/g, "isolation: <level>"],
];

const lines: string[] = [];
function tell(text: string): void {
  lines.push(varying.reduce((told, [pattern, name]) => told.replace(pattern, name), text));
}
function heading(title: string, said: string): void {
  tell(`## ${title}\n\n${said}\n`);
}
function exchange(asked: string, answered: string): void {
  const answer = answered.trimEnd().replaceAll("\n", "\n  ");
  tell(`\`\`\`text\n→ ${asked}\n← ${answer}\n\`\`\`\n`);
}
/** Calls a tool, and writes the call and its answer to the page. */
async function call(name: string, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { content, structuredContent, isError } = await mcp.call(name, given);
  exchange(`${name} ${told(given)}`, textOf(content));
  expect(isError ?? false).toBe(false);
  return structuredContent ?? {};
}
/** The arguments as the page shows them: JSON, but programs line by line. */
function told(given: Record<string, unknown>): string {
  const { code, ...others } = given;
  const program = typeof code === "string" ? `\n${code.trim().replace(/^/gm, "    ")}` : "";
  return `${JSON.stringify(others)}${program}`;
}

test("a walk through a session, from the connection to the end, is what the page says", {
  tags: ["python3-pip", "git", "openssl", "python3-matplotlib"],
  timeout: 300_000,
}, async () => {
  tell(`# A session, step by step

What a client and the server say to each other, as a test has recorded it (\`test/mcp/mcp-walk.test.ts\`). What differs
from run to run is in angle brackets; the package index is one of the test's own.
`);

  heading("Connect", "The server says who it is, and how its tools are used.");
  const { name, title } = mcp.client.getServerVersion() ?? {};
  const [instructions] = (mcp.client.getInstructions() ?? "").split("\n");
  exchange("initialize", `${name} (${title})\n${instructions}\n…`);

  heading(
    "Browse templates",
    "Templates are resources, whose names can be completed, and a tool lists them too.",
  );
  const { resources } = await mcp.client.listResources();
  exchange("resources/list", resources.map(({ uri }) => uri).join("\n"));
  const { completion } = await mcp.client.complete({
    ref: { type: "ref/resource", uri: "template://{name}" },
    argument: { name: "name", value: "code" },
  });
  exchange('completion/complete template://{name} name="code"', completion.values.join("\n"));
  await call("list_templates", { fields: "name,category", limit: 10 });

  heading("Create a sandbox", "It reaches the internet, through a proxy that filters.");
  const { id } = await call("create_sandbox", { template_name: "code-interpreter" });
  const sandbox_id = String(id);
  varying.push([new RegExp(sandbox_id, "g"), "<sandbox>"]);
  lines.splice(0, lines.length, ...lines.map((line) => line.replaceAll(sandbox_id, "<sandbox>")));
  // Make pip use this test's package index. The page does not show this step.
  const sandbox = await client.sandboxes.get(sandbox_id);
  await sandbox.files.write("/workspace/.ca.pem", packages.certificate);
  await sandbox.env.merge({
    PIP_INDEX_URL: `https://${index}:${packages.httpsPort}/simple`,
    PIP_CERT: "/workspace/.ca.pem",
    // Where this machine has an authority of its own, it is set, and pip prefers it.
    REQUESTS_CA_BUNDLE: "/workspace/.ca.pem",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    PIP_ROOT_USER_ACTION: "ignore",
  });

  heading("Install a package", "What a package manager fetches comes through the proxy.");
  await call("run_command", { sandbox_id, command: "pip install --quiet --target lib hello-pip" });
  await call("run_command", { sandbox_id, command: "python3 -m hello_pip", env: { PYTHONPATH: "lib" } });

  // Import the fonts first: if that takes more than five seconds, matplotlib writes a warning to stderr once.
  await sandbox.commands.run(["python3", "-c", "import matplotlib.font_manager"], { timeoutSeconds: 120 });
  heading("Plot", "Figures come back as images, and variables stay for the next call.");
  await call("execute_code_rich", {
    sandbox_id,
    code: `
import matplotlib.pyplot as plt
sales = [100, 150, 200, 180, 220]
plt.plot(sales)
plt.savefig("/workspace/sales.png")
plt.show()`,
  });
  const run = await call("execute_code", {
    sandbox_id,
    code: `
import statistics
growth = (sales[-1] - sales[0]) / sales[0]
summary = f"mean {statistics.mean(sales)}, median {statistics.median(sales)}, growth {growth:.0%}"
open("/workspace/summary.txt", "w").write(summary + "\\n")
print(summary)`,
  });
  expect(run.stdout).toBe("mean 170, median 180, growth 120%\n");

  heading("Read files", "By a tool, or as resources: text as text, and what is no text as a blob.");
  await call("file_read", { sandbox_id, path: "/workspace/summary.txt" });
  const uri = `sandbox://${sandbox_id}/files/workspace/sales.png`;
  const [figure] = (await mcp.client.readResource({ uri })).contents;
  exchange(`resources/read ${uri}`, `${figure?.mimeType} (a blob)`);
  expect(figure).toMatchObject({ mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) });

  heading(
    "Run a job in the background",
    "It goes on between calls; its output is read from where the last call ended.",
  );
  const { process_id } = await call("execute_code_background", {
    sandbox_id,
    name: "count",
    code: `
import time
for number in range(1000):
    print(number, flush=True)
    time.sleep(600)`,
  });
  varying.push([new RegExp(String(process_id), "g"), "<process>"]);
  lines.push(lines.pop()?.replaceAll(String(process_id), "<process>") ?? "");
  const job = { sandbox_id, process_id };
  await expect.poll(async () => (await mcp.result("execute_process_output", job)).stdout).toBe("0\n");
  await call("execute_process_output", job);
  await call("execute_kill_process", job);

  heading("Cancel", "A call that is cancelled stops what it runs.");
  const cancelled = new AbortController();
  const sleeping = mcp.call(
    "run_command",
    { sandbox_id, command: "touch started; sleep 4711" },
    { signal: cancelled.signal },
  );
  const isThere = async () =>
    (await mcp.result("file_exists", { sandbox_id, path: "/workspace/started" })).exists;
  await expect.poll(isThere).toBe(true);
  cancelled.abort("no longer wanted");
  await expect(sleeping).rejects.toThrow(/no longer wanted/);
  exchange(
    `run_command ${JSON.stringify({ sandbox_id, command: "touch started; sleep 4711" })}`,
    "(cancelled by the client: no answer)",
  );
  const isSleeping = async () =>
    JSON.stringify((await mcp.result("list_processes", { sandbox_id })).processes).includes("sleep 4711");
  await expect.poll(isSleeping).toBe(false);

  heading("Delete the sandbox", "With it go its files and whatever still runs.");
  await call("delete_sandbox", { id: sandbox_id });
  await call("list_sandboxes", {});
  await expect(lines.join("\n")).toMatchFileSnapshot(page);
});
