import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { chart, helm, valueOptions, withoutHelm } from "../support/kubernetes/helm.js";
import { kubectl, ownCluster, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));
const images = {
  "images.server": "registry.example/cloud-sandbox-local:1",
  "images.agent": "registry.example/cloud-sandbox-agent:1",
};

const obstacle = withoutHelm();
if (obstacle !== undefined) test("the Helm chart", ({ skip }) => skip(obstacle));
else
  describe("the Helm chart", () => {
    /** Write them anew: npx vitest run --project kubernetes test/kubernetes/chart -u */
    test.each([
      [
        "sandboxes.yaml",
        "The namespace of the sandboxes, a policy that closes their network, and an account for the server with the rights that it uses.",
        ["namespace", "networkpolicy", "rights"],
        {},
      ],
      [
        "agent-sandbox.yaml",
        "The rights of a server with --kubernetes-sandboxes=agent-sandbox. Apply it after sandboxes.yaml: it replaces the rights there.",
        ["rights"],
        { agentSandbox: true },
      ],
      [
        "server.yaml",
        "Servers inside of the cluster, which act as one. They need sandboxes.yaml.",
        ["deployment", "service", "disruption-budget"],
        {},
      ],
    ])("is deploy/kubernetes/%s", async (file, about, templates, values) => {
      const rendered: string[] = [];
      for (const name of templates)
        rendered.push(
          await render(
            { ...images, createNamespace: true, ...values },
            "--show-only",
            `templates/${name}.yaml`,
          ),
        );
      const text = rendered.join("").replace(/^# Source: .*\n/gm, "");
      await expect(
        `# ${about}\n# Written from the chart in deploy/helm by test/kubernetes/chart.kubernetes.test.ts.\n${text}`,
      ).toMatchFileSnapshot(join(deploy, "kubernetes", file));
    });

    test.each([
      ["no image of the server", { "images.agent": "a" }, /Set images\.server: push what/],
      ["no image with the agent", { "images.server": "a" }, /Set images\.agent: push what/],
      ["an unknown value", { ...images, replica: 3 }, /additional properties 'replica' not allowed/],
      ["no servers", { ...images, replicas: 0 }, /'\/replicas': minimum: got 0, want 1/],
      ["a class without its level", { ...images, runtimeClass: "gvisor" }, /'\/runtimeClass'.*gvisor/],
      ["an unknown placement", { ...images, placement: { nodes: {} } }, /'\/placement'.*'nodes' not allowed/],
      [
        "a quota that shuts servers out",
        { ...images, "quota.limits\\.cpu": "20" },
        /Set resources\.limits\.cpu:/,
      ],
      ["an Ingress without a name", { ...images, "ingress.enabled": true }, /Set ingress\.host: the name/],
    ])("refuses %s, and says what is wrong", async (_, values, message) => {
      await expect(render(values)).rejects.toThrow(message);
    });

    test("passes helm lint", async () => {
      expect(await helm("lint", "--strict", chart, ...valueOptions(images))).toContain("0 chart(s) failed");
    });

    test("lets the server make Sandboxes in place of Pods", async () => {
      const text = await render({ ...images, agentSandbox: true });
      expect(text).toContain("- --kubernetes-sandboxes=agent-sandbox\n");
      const role = objects(text).find(({ kind }) => kind === "Role");
      expect(role).toMatchObject({
        rules: expect.arrayContaining([
          { apiGroups: ["agents.x-k8s.io"], resources: ["sandboxes"], verbs: expect.any(Array) },
          { apiGroups: [""], resources: ["pods"], verbs: ["delete", "get", "list", "watch"] },
        ]),
      });
    });

    test("mounts the key that seals secrets for the server alone", async () => {
      const rendered = objects(await render({ ...images, "secretsKey.existingSecret": "sealing" }));
      expect(rendered.find(({ kind }) => kind === "Deployment")?.spec).toMatchObject({
        template: {
          spec: {
            containers: [
              {
                args: expect.arrayContaining(["--secrets-key-file=/etc/cloud-sandbox-secrets/key"]),
                volumeMounts: expect.arrayContaining([
                  { name: "secrets-key", mountPath: "/etc/cloud-sandbox-secrets", readOnly: true },
                ]),
              },
            ],
            volumes: expect.arrayContaining([
              { name: "secrets-key", secret: { secretName: "sealing", defaultMode: 0o400 } },
            ]),
          },
        },
      });
    });

    test("takes names as text, whatever is in them", async () => {
      const names = {
        priorityClassName: "1000\n      hostNetwork: true",
        apiKey: { existingSecret: "1000", secretKey: "1e3" },
        ingress: { enabled: true, host: "sandboxes.example", className: "on", tlsSecret: "1000" },
      };
      const rendered = objects(await render({ ...images, ...names }));
      expect(rendered.find(({ kind }) => kind === "Deployment")?.spec).toMatchObject({
        template: {
          spec: {
            priorityClassName: names.priorityClassName,
            containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "1000", key: "1e3" } } }] }],
          },
        },
      });
      expect(rendered.find(({ kind }) => kind === "Ingress")?.spec).toMatchObject({
        ingressClassName: "on",
        tls: [{ secretName: "1000" }],
      });
    });

    // In YAML, 1000 is a number, and so is 1e-5, which is the name of the PriorityClass in the second case.
    test.each(["1000", "1e"])("takes the namespace %s as text", async (namespace) => {
      const values = { ...images, createNamespace: true, "ingress.enabled": true, "ingress.host": "a" };
      const more = {
        "monitoring.enabled": true,
        "quota.pods": 300,
        "keyQuotas.5": { pods: 20 },
        "placement.nodeSelector.a": "b",
      };
      const rendered = objects(await render({ ...values, ...more }, "--namespace", namespace));
      const ofCluster = ["Namespace", "PriorityClass"];
      for (const { kind, metadata } of rendered) {
        const place = ofCluster.includes(kind) ? {} : { namespace };
        expect(metadata).toMatchObject({ name: expect.any(String), ...place });
      }
      const binding = rendered.find(({ kind }) => kind === "RoleBinding");
      expect(binding).toMatchObject({ subjects: [{ namespace }] });
      expect(rendered.filter(({ metadata }) => metadata.name === `${namespace}-5`)).toHaveLength(2);
    });

    test("leaves the network of sandboxes closed that outlive it", async () => {
      const policy = objects(await render(images)).find(({ kind }) => kind === "NetworkPolicy");
      expect(policy?.metadata).toMatchObject({ annotations: { "helm.sh/resource-policy": "keep" } });
    });

    test("gives Prometheus and Grafana what deploy/monitoring has, the key and one target", async () => {
      const text = await render({ ...images, "monitoring.enabled": true });
      const [monitor, rule] = ["ServiceMonitor", "PrometheusRule"].map((kind) =>
        objects(text).find((object) => object.kind === kind),
      );
      const dashboard = objects(text).find(({ metadata }) => metadata.name === "cloud-sandbox-dashboard");
      expect(dashboard).toMatchObject({
        metadata: { labels: { grafana_dashboard: "1" } },
        data: {
          "cloud-sandbox.json": await readFile(join(deploy, "monitoring/grafana-dashboard.json"), "utf8"),
        },
      });
      expect(rule?.spec).toEqual(parse(await readFile(join(deploy, "monitoring/alerts.yaml"), "utf8")));
      expect(monitor?.spec).toMatchObject({
        endpoints: [{ port: "http", authorization: { credentials: { name: "cloud-sandbox-keys" } } }],
      });
      expect(text).toContain("- --metrics\n");
    });
  });

const withoutCluster = obstacle ?? withoutKubernetes();
if (withoutCluster !== undefined) test("the chart on a cluster", ({ skip }) => skip(withoutCluster));
else
  describe("the API server takes", () => {
    // Helm refuses objects that others made, as those in the namespace of the other tests.
    const namespace = "chart";
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "manifests-"));
      await kubectl("create", "namespace", namespace);
    });
    afterAll(async () => {
      await kubectl("delete", "namespace", namespace, "--wait=false");
      await rm(directory, { recursive: true });
    });

    /** What the API server says to each object, as in `deployment.apps/cloud-sandbox-local created (server dry run)`. */
    const tried = async (text: string, ...options: readonly string[]): Promise<string[]> => {
      const file = join(directory, "manifest.yaml");
      await writeFile(file, text);
      const said = await kubectl("apply", "--dry-run=server", "--filename", file, ...options);
      return said.trim().split("\n");
    };

    test.each([
      ["defaults", {}, 7],
      ["one server", { replicas: 1 }, 6],
      [
        "everything set",
        {
          replicas: 3,
          pool: 20,
          maxSandboxes: 1000,
          runtimeClass: "gvisor=gvisor",
          openNetwork: true,
          agentSandbox: true,
          "images.sandboxes": ["python:3.12-slim", "node:22-slim"],
          imagePullSecrets: [{ name: "registry" }],
          extraArgs: ["--memory-mb=512"],
          extraEnv: [{ name: "NO_PROXY", value: "10.0.0.0/8" }],
          apiKey: { existingSecret: "own", secretKey: "key" },
          resources: { requests: { cpu: 1, memory: "1Gi" }, limits: { memory: "4Gi" } },
          nodeSelector: { "kubernetes.io/os": "linux" },
          tolerations: [{ key: "servers", operator: "Exists" }],
          priorityClassName: "system-cluster-critical",
          placement: {
            nodeSelector: { pool: "sandboxes" },
            templates: { "node:22-slim": { tolerations: [{ key: "sandboxes", operator: "Exists" }] } },
          },
          ingress: {
            enabled: true,
            className: "nginx",
            annotations: { "nginx.ingress.kubernetes.io/proxy-buffering": "off" },
            host: "sandboxes.example",
            tlsSecret: "certificate",
          },
          quota: { pods: 300, "limits.memory": "600Gi" },
          keyQuotas: { "team-a": { pods: "20", "requests.memory": "8Gi" }, "team-b": { pods: 5 } },
        },
        14,
      ],
    ])("the chart with %s", async (_, values, count) => {
      const said = await tried(
        await render(
          { ...images, ...values },
          ...["--namespace", namespace, "--dry-run=server", "--kubeconfig", ownCluster().admin],
        ),
        ...["--namespace", namespace],
      );
      expect(said).toHaveLength(count);
      for (const line of said) expect(line).toMatch(/ created \(server dry run\)$/);
    });
  });

const render = (values: Readonly<Record<string, unknown>>, ...options: readonly string[]): Promise<string> =>
  helm(
    "template",
    "cloud-sandbox",
    chart,
    "--namespace",
    "cloud-sandbox",
    ...valueOptions(values),
    ...options,
  );

const objects = (text: string): { kind: string; metadata: { name: string }; spec: object }[] =>
  parseAllDocuments(text).map((document) => document.toJS());
