import { SandboxClient } from "cloud-sandbox";
import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type McpConnection, textOf } from "../../packages/mcp/test/support/mcp-connection.js";
import { type PackageServer, startPackageServer } from "../support/package-server.js";

const index = "packages.test";

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

test("a session goes from browsing through packages, plots, files and jobs to the delete of its sandbox", {
  tags: ["python3-pip", "git", "openssl", "python3-matplotlib"],
  timeout: 300_000,
}, async () => {
  expect(mcp.client.getServerVersion()).toMatchObject({ name: "cloud-sandbox", title: "Cloud Sandbox" });
  expect(mcp.client.getInstructions()).toMatch(/^Runs code in isolated sandboxes\.\n/);

  // Templates are resources, whose names can be completed, and a tool lists them too.
  const { resources } = await mcp.client.listResources();
  const uris = resources.map(({ uri }) => uri);
  // Where this machine has the programs of a desktop, there is a template of it after these.
  expect(uris.slice(0, 2)).toEqual(["template://code-interpreter", "template://base"]);
  expect(uris.at(-1)).toBe("ui://cloud-sandbox/view");
  const { completion } = await mcp.client.complete({
    ref: { type: "ref/resource", uri: "template://{name}" },
    argument: { name: "name", value: "code" },
  });
  expect(completion.values).toEqual(["code-interpreter"]);
  const query = { category: "operating-system", fields: "name,category", limit: 10 };
  const templates = await mcp.call("list_templates", query);
  expect(textOf(templates.content)).toBe(`data:
{"name":"base","category":"operating-system"}
count: 1
has_more: false`);

  const created = await mcp.result("create_sandbox", { template_name: "code-interpreter" });
  expect(created).toMatchObject({ status: "running", internet_access: true, timeout_seconds: 600 });
  const sandbox_id = String(created.id);
  // Make pip use this test's package index.
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

  // What a package manager fetches comes through the proxy.
  const command = "pip install --quiet --target lib hello-pip";
  expect(await mcp.result("run_command", { sandbox_id, command })).toMatchObject({
    exit_code: 0,
    stderr: "",
  });
  const env = { PYTHONPATH: "lib" };
  const hello = await mcp.result("run_command", { sandbox_id, command: "python3 -m hello_pip", env });
  expect(hello).toMatchObject({ exit_code: 0, stdout: "installed by pip\n", stderr: "" });

  // Import the fonts first: if that takes more than five seconds, matplotlib writes a warning to stderr once.
  await sandbox.commands.run(["python3", "-c", "import matplotlib.font_manager"], { timeoutSeconds: 120 });
  // Plots come back as images, and variables stay for the next call.
  const plot = await mcp.call("execute_code_rich", {
    sandbox_id,
    code: `
import matplotlib.pyplot as plt
sales = [100, 150, 200, 180, 220]
plt.plot(sales)
plt.savefig("/workspace/sales.png")
plt.show()`,
  });
  expect(plot.structuredContent).toMatchObject({ exit_code: 0, stdout: "", stderr: "" });
  expect(plot.content.at(-1)).toMatchObject({ type: "image", mimeType: "image/png" });
  const run = await mcp.result("execute_code", {
    sandbox_id,
    code: `
import statistics
growth = (sales[-1] - sales[0]) / sales[0]
summary = f"mean {statistics.mean(sales)}, median {statistics.median(sales)}, growth {growth:.0%}"
open("/workspace/summary.txt", "w").write(summary + "\\n")
print(summary)`,
  });
  expect(run.stdout).toBe("mean 170, median 180, growth 120%\n");

  // Files are read by a tool, or as resources.
  const summary = await mcp.result("file_read", { sandbox_id, path: "/workspace/summary.txt" });
  expect(summary).toMatchObject({ content: run.stdout, size: 34, truncated: false });
  const uri = `sandbox://${sandbox_id}/files/workspace/sales.png`;
  const [image] = (await mcp.client.readResource({ uri })).contents;
  expect(image).toMatchObject({ mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) });

  // A job goes on between calls; its output is read from where the last call ended.
  const { process_id } = await mcp.result("execute_code_background", {
    sandbox_id,
    name: "count",
    code: `
import time
for number in range(1000):
    print(number, flush=True)
    time.sleep(600)`,
  });
  const job = { sandbox_id, process_id };
  await expect
    .poll(() => mcp.result("execute_process_output", job))
    .toMatchObject({ status: "running", stdout: "0\n", stdout_offset: 2, complete: false });
  expect(await mcp.result("execute_kill_process", job)).toMatchObject({ status: "killed", success: true });

  // A call that is cancelled stops what it runs.
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
  const isSleeping = async () =>
    JSON.stringify((await mcp.result("list_processes", { sandbox_id })).processes).includes("sleep 4711");
  await expect.poll(isSleeping).toBe(false);

  expect(await mcp.result("delete_sandbox", { id: sandbox_id })).toMatchObject({ status: "deleted" });
  expect(await mcp.result("list_sandboxes")).toMatchObject({ data: [], count: 0, has_more: false });
});
