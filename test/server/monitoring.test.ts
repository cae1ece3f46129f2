/** Prometheus itself reads the server's metrics with the files that are delivered, and understands every query in them. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { root } from "../support/documents/code-blocks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

describe("the files for Prometheus and Grafana", { tags: ["prometheus"] }, () => {
  let directory: string;
  let server: LocalServer;
  let prometheus: ChildProcess;
  let url: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "monitoring-"));
    await cp(join(root, "deploy/monitoring"), directory, { recursive: true });
    server = await startLocalServer({ args: ["--pool", "1", "--metrics"] });
    await writeFile(join(directory, "cloud-sandbox.key"), server.apiKey);
    const config = join(directory, "prometheus.yaml");
    const delivered = await readFile(config, "utf8");
    const { host } = new URL(server.url);
    await writeFile(config, `global: { scrape_interval: 1s }\n${delivered.replace("127.0.0.1:7007", host)}`);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      "/usr/bin/prometheus",
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: "ignore" },
    );
  });
  afterAll(async () => {
    if (prometheus?.exitCode === null) {
      const ended = new Promise((resolve) => prometheus.once("exit", resolve));
      prometheus.kill("SIGTERM");
      await ended;
    }
    await server?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  test("let it read the metrics with the server's key", async () => {
    await expect.poll(async () => (await query('up{job="cloud-sandbox"}'))[0]?.value[1]).toBe("1");
  });

  test("have queries that it understands, of metrics that the server has", async () => {
    const api = new ControlPlaneCaller(server);
    const sandbox = await api.create();
    await api.run(sandbox, "curl -s http://127.0.0.2.nip.invalid || true");
    await api.call("POST", "/executions", { code: "print(1)", language: "python" });
    await api.call("GET", "/sandboxes/nope");
    const queries = await queriesOf(directory);
    expect(queries.length).toBeGreaterThan(12);
    for (const text of queries) await query(text);
    for (const name of new Set(queries.flatMap((text) => text.match(/cloud_sandbox_\w+/g) ?? [])))
      await expect
        .poll(async () => ({ name, series: (await query(name)).length }))
        .not.toEqual({ name, series: 0 });
  });

  test("have alerts that its own checker accepts", () => {
    const said = execFileSync("/usr/bin/promtool", ["check", "rules", join(directory, "alerts.yaml")], {
      encoding: "utf8",
    });
    expect(said).toContain("SUCCESS: 4 rules found");
  });

  /** The series that a query gives now. Throws what Prometheus has against the query. */
  async function query(text: string): Promise<Series[]> {
    const answer = await fetch(`${url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: text }),
    }).catch(() => undefined);
    if (answer === undefined) return [];
    const { data, error, status } = (await answer.json()) as QueryAnswer;
    if (status !== "success") throw new Error(`${error} in: ${text}`);
    return data.result;
  }
});

interface Series {
  readonly value: [time: number, value: string];
}

interface QueryAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: Series[] };
}

/** Every query of the dashboard and of the alerts. */
async function queriesOf(directory: string): Promise<string[]> {
  const dashboard = JSON.parse(await readFile(join(directory, "grafana-dashboard.json"), "utf8"));
  const alerts = parse(await readFile(join(directory, "alerts.yaml"), "utf8"));
  const { panels } = dashboard as { panels: { targets: { expr: string }[] }[] };
  const { groups } = alerts as { groups: { rules: { expr: string }[] }[] };
  const inPanels = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  // Grafana puts an interval there.
  const shown = inPanels.map((expr) => expr.replaceAll("$__rate_interval", "1m"));
  return [...shown, ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))];
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
