/**
 * Four programs, each in a sandbox of its own, the way an assistant runs them: a real MCP client starts the real
 * server and calls `execute_code_isolated`. Needs no account: the sandboxes run on this machine.
 *
 * Exit code 0 only when each program printed what it should.
 */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const programs = [
  {
    title: "Python: a table with pandas, and its plot",
    language: "python",
    code: `
import pandas as pd
import matplotlib.pyplot as plt
sales = pd.Series([100, 150, 200, 180, 220], index=["Jan", "Feb", "Mar", "Apr", "May"])
print(sales.describe().round(2).to_string())
sales.plot(kind="bar", title="Sales")
plt.show()
`,
    prints: [/^mean +170\.0/m, /^max +220\.0/m],
    plot: join(tmpdir(), "cloud-sandbox-demo.png"),
  },
  {
    title: "Python: mean, median and growth of [100, 150, 200, 180, 220]",
    language: "python",
    code: `
import statistics
sales = [100, 150, 200, 180, 220]
print(f"mean    {statistics.mean(sales):.2f}")
print(f"median  {statistics.median(sales):.2f}")
print(f"growth  {(sales[-1] - sales[0]) / sales[0] * 100:.1f} %")
`,
    prints: [/^mean +170\.00$/m, /^median +180\.00$/m, /^growth +120\.0 %$/m],
  },
  {
    title: "JavaScript: Fibonacci numbers up to 100",
    language: "javascript",
    code: `
const numbers = [0, 1];
while (numbers.at(-1) + numbers.at(-2) <= 100) numbers.push(numbers.at(-1) + numbers.at(-2));
console.log(numbers.join(", "));
`,
    prints: [/^0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89$/m],
  },
  {
    title: "Bash: the system inside, and its disk",
    language: "bash",
    code: "uname -a\ndf -h /workspace",
    prints: [/^Linux /m, /^Filesystem .*Mounted on\n.* \/workspace$/m],
  },
];

const server = new StdioClientTransport({
  command: process.execPath,
  args: [fileURLToPath(new URL("../packages/mcp/dist/main.js", import.meta.url))],
  env: { ...process.env, CLOUD_SANDBOX_BACKEND: "local" },
});
const client = new Client({ name: "cloud-sandbox-demo", version: "1.0.0" });
await client.connect(server);
const { name, version } = client.getServerVersion();
console.log(`Connected to the MCP server ${name} ${version}.`);

let failures = 0;
let leftOut = 0;
try {
  for (const { title, language, code, prints, plot } of programs) {
    const startedAt = performance.now();
    const answer = await client.callTool({ name: "execute_code_isolated", arguments: { language, code } });
    const milliseconds = Math.round(performance.now() - startedAt);
    const run = answer.structuredContent;
    console.log(`\n${title}`);
    if (answer.isError || run === undefined) {
      console.log(`  failed: ${answer.content.map(({ text }) => text).join(" ")}`);
      failures += 1;
      continue;
    }
    console.log(`${run.stdout}${run.stderr}`.trimEnd().replace(/^/gm, "  | "));
    console.log(
      `  sandbox ${run.sandbox_id}, isolation "${run.isolation}", ${milliseconds} ms, exit code ${run.exit_code}`,
    );
    if (plot && run.stderr.includes("ModuleNotFoundError")) {
      console.log(
        '  left out: without pandas and matplotlib. "npm run demo" as root on Debian or Ubuntu installs them.',
      );
      leftOut += 1;
      continue;
    }
    if (plot) {
      const image = answer.content.find(({ type }) => type === "image");
      if (image) writeFileSync(plot, Buffer.from(image.data, "base64"));
      console.log(image ? `  its plot is in ${plot}` : "  failed: there is no plot");
      if (!image) failures += 1;
    }
    if (run.exit_code !== 0 || prints.some((expected) => !expected.test(run.stdout))) {
      console.log("  failed: this is not what it should print");
      failures += 1;
    }
  }
} finally {
  await client.close();
}
const count = programs.length;
console.log(
  failures === 0
    ? `\n${leftOut === 0 ? `All ${count}` : `${count - leftOut} of ${count}`} ran; their sandboxes are gone.`
    : `\n${failures} of ${count} failed.`,
);
process.exitCode = failures === 0 ? 0 : 1;
