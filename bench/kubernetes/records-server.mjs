import { request } from "undici";
import { serve } from "../serve.mjs";

const label = "cloud-sandbox.dev/record";
const keys = "cloud-sandbox-keys";

/** A server that has the records of many sandboxes in the cluster. Their Pods are gone, so that only the list is measured. */
export class RecordsServer {
  static async start(cluster, count) {
    const options = [...cluster.options, "--kubernetes-records", "--pool", "0"];
    const first = await serve(...options);
    const created = await call(first, "POST", "/v1/sandboxes", {
      template_name: "base",
      metadata: { team: "bench" },
    });
    const record = await recordOf(cluster, created.id);
    await call(first, "DELETE", `/v1/sandboxes/${created.id}`);
    await first.stop();
    for (let index = 0; index < count; index += 1)
      await cluster.api.createNamespacedConfigMap(copy(cluster, record, index));
    return new RecordsServer(cluster, await serve(...options));
  }

  constructor(cluster, server) {
    this.cluster = cluster;
    this.server = server;
  }

  /** How many sandboxes the server lists. */
  async list() {
    const { data } = await call(this.server, "GET", "/v1/sandboxes?limit=1000");
    return data.length;
  }

  async stop() {
    await this.server.stop();
    const { api, namespace } = this.cluster;
    const { items } = await api.listNamespacedConfigMap({ namespace, labelSelector: label });
    for (const { metadata } of items) await api.deleteNamespacedConfigMap({ namespace, name: metadata.name });
    await api.deleteNamespacedSecret({ namespace, name: keys });
  }
}

async function recordOf({ api, namespace }, id) {
  return api.readNamespacedConfigMap({ namespace, name: `cloud-sandbox-${id}` });
}

function copy({ namespace }, { metadata, data }, index) {
  const record = JSON.parse(data.record);
  const id = `${record.id.slice(0, -4)}${String(index).padStart(4, "0")}`;
  const body = {
    metadata: { name: `cloud-sandbox-${id}`, labels: metadata.labels },
    data: { ...data, record: JSON.stringify({ ...record, id, name: `bench-${index}` }) },
  };
  return { namespace, body };
}

async function call({ url, apiKey }, method, path, body) {
  const answer = await request(url + path, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
