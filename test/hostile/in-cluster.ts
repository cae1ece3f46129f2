import { expect } from "vitest";
import { kubectl } from "../support/kubernetes/kubernetes-server.js";
import { type Attack, bash, python } from "./attack.js";

/** Attempts on the cluster that a sandbox's Pod is part of. The addresses are told, as code could find them by trying all. */
export const inCluster: readonly Attack[] = [
  {
    name: "find a token of the cluster",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        "find / -xdev -path '*serviceaccount*' 2>/dev/null; grep -l serviceaccount /proc/self/mountinfo; echo looked",
      );
      expect(stdout).toBe("looked\n");
      return "the Pod has none";
    },
  },
  {
    name: "use the cluster's API",
    async attempt({ sandbox }) {
      const url = await kubectl("config", "view", "--output", "jsonpath={.clusters[0].cluster.server}");
      const namespace = "api/v1/namespaces/cloud-sandbox";
      const { stdout } = await python(
        sandbox,
        `${asking}
pod = {"metadata": {"name": "own"}, "spec": {"containers": [{"name": "own", "image": "own"}]}}
for headers in ({}, {"authorization": "Bearer guess"}):
    for path in ("api/v1/pods", "api/v1/secrets", "api/v1/nodes", "${namespace}/configmaps", "${namespace}/secrets"):
        print(ask(f"${url}/{path}", headers))
    print(ask("${url}/${namespace}/pods", headers, pod))`,
      );
      expect(stdout).toBe("403\n".repeat(6) + "401\n".repeat(6));
      return "it is reached, and refuses everything: code has no account in it";
    },
  },
  {
    name: "get into other Pods by the ports of their agents",
    async attempt({ sandbox }) {
      const ours = ["--selector", "app.kubernetes.io/managed-by=cloud-sandbox"];
      const path = "jsonpath={.items[*].status.podIP}";
      const addresses = (await kubectl("get", "pods", ...ours, "--output", path)).split(" ");
      const { stdout } = await sandbox.execute(intrusion(addresses), {
        ...{ language: "javascript", timeoutSeconds: 60 },
      });
      const { others, connected, answers } = JSON.parse(stdout);
      expect(others).toBeGreaterThan(0);
      expect([connected, answers]).toEqual([others * 10, []]);
      return "they are reached, as no plug-in enforces the policy here, and hang up without the Pod's secret";
    },
  },
  {
    name: "use the node: its kubelet, and the database of the cluster",
    async attempt({ sandbox }) {
      const path = "jsonpath={.items[*].status.addresses[?(@.type=='InternalIP')].address}";
      const nodes = (await kubectl("get", "nodes", "--output", path)).split(" ");
      const server = await kubectl("config", "view", "--output", "jsonpath={.clusters[0].cluster.server}");
      const { stdout } = await python(
        sandbox,
        `${asking}
refused = {ask(f"https://{node}:10250/{path}") for node in ${JSON.stringify(nodes)}
    for path in ("pods", "runningpods/", "metrics", "logs/", "exec/cloud-sandbox/own/sandbox", "run/cloud-sandbox/own/sandbox")}
hosts = ${JSON.stringify([...nodes, new URL(server).hostname])}
closed = {ask(f"http://{host}:{port}/version") for host in hosts for port in (2379, 23790, 10255, 10248, 10251, 10252)}
print(refused, closed)`,
      );
      expect(stdout).toBe("{401} {'ConnectionRefusedError'}\n");
      return "the kubelet refuses whoever is not the API server, and the database is not on the node's address";
    },
  },
  {
    name: "reach a cloud's metadata without the proxy",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `${asking}
headers = {"metadata-flavor": "Google", "metadata": "true"}
print({ask(f"http://{host}/latest/meta-data/", headers) for host in ("169.254.169.254", "169.254.170.2")})`,
      );
      expect(stdout).toBe("{'OSError'}\n");
      return "the tests' nodes have no way to it; other clusters need the policy, or nodes that hide it";
    },
  },
];

/** Defines a function in Python that sends a request without the proxy, and returns the status or the name of the error. */
const asking = `
import json, ssl, urllib.error, urllib.request
context = ssl._create_unverified_context()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
def ask(url, headers={}, body=None):
    data = body and json.dumps(body).encode()
    request = urllib.request.Request(url, data, {**headers, "content-type": "application/json"})
    try:
        return opener.open(request, timeout=5).status
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError as error:
        return type(error.reason).__name__`;

/** A program in JavaScript that asks the agents of other Pods for everything that the server may ask them. */
const intrusion = (addresses: readonly string[]): string => `
const http2 = require("node:http2");
const own = Object.values(require("node:os").networkInterfaces()).flat().map(({ address }) => address);
const others = ${JSON.stringify(addresses)}.filter((address) => !own.includes(address));
let connected = 0;
const answers = [];
const ask = (address, path, headers) => new Promise((resolve) => {
  const session = http2.connect("http://" + address + ":7777", () => { connected += 1; });
  session.on("error", () => undefined).on("close", resolve);
  const request = session.request({ ":method": "POST", ":path": path, ...headers });
  request.on("response", (answer) => { answers.push(path + " " + answer[":status"]); session.destroy(); });
  request.on("error", () => undefined).end("{}");
});
const asked = others.flatMap((address) => ["/hello", "/assign", "/agent", "/egress", "/restart"].flatMap((path) =>
  [{}, { authorization: "0".repeat(64) }].map((headers) => ask(address, path, headers))));
await Promise.all(asked);
console.log(JSON.stringify({ others: others.length, connected, answers }));`;
