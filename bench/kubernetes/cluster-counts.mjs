import { openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the processes of a cluster that test/support/kubernetes/up started say about themselves. */
export class ClusterCounts {
  #audit;
  #etcd;

  constructor(directory, namespace) {
    this.directory = directory;
    this.namespace = namespace;
    this.#audit = join(directory, "log/audit");
    this.#etcd = `http://10.245.${readFileSync(join(directory, "number"), "utf8").trim()}.1:23790`;
  }

  /** The requests of `work` to objects of the namespace, as `{"kubelet": {"patch pods/status": 3}}`. Leases are left out. */
  async requests(work) {
    const from = statSync(this.#audit).size;
    await work();
    const file = openSync(this.#audit, "r");
    const text = Buffer.alloc(statSync(this.#audit).size - from);
    readSync(file, text, 0, text.length, from);
    const counts = {};
    for (const line of text.toString("utf8").split("\n")) {
      if (!line.endsWith("}")) continue;
      const { objectRef, verb, user, userAgent = "", stage } = JSON.parse(line);
      if (objectRef?.namespace !== this.namespace || objectRef.resource === "leases") continue;
      if (stage !== "ResponseComplete" || verb === "watch") continue;
      const program = user.username.startsWith("system:serviceaccount:") ? "server" : userAgent.split("/")[0];
      if (!["server", "kubelet", "kube-scheduler", "kube-controller-manager"].includes(program)) continue;
      const subresource = objectRef.subresource ? `/${objectRef.subresource}` : "";
      const name = `${verb} ${objectRef.resource}${subresource}`;
      counts[program] ??= {};
      counts[program][name] = (counts[program][name] ?? 0) + 1;
    }
    return counts;
  }

  /** How many objects of a kind etcd has in the namespace, and their bytes. */
  async stored(kind) {
    const prefix = `/registry/${kind}/${this.namespace}/`;
    const encoded = (text) => Buffer.from(text).toString("base64");
    const { kvs = [] } = await this.#ask("kv/range", {
      key: encoded(prefix),
      range_end: encoded(`${prefix.slice(0, -1)}0`),
    });
    const sizes = kvs
      .filter(({ key }) => kind !== "configmaps" || Buffer.from(key, "base64").includes("/cloud-sandbox-"))
      .map(({ key, value }) => Buffer.from(key, "base64").length + Buffer.from(value, "base64").length);
    return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  }

  /** Bytes of etcd's file that are in use, with the old versions of objects that are not compacted yet. */
  async inUse() {
    return Number((await this.#ask("maintenance/status", {})).dbSizeInUse);
  }

  async #ask(path, body) {
    const answer = await fetch(`${this.#etcd}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** The pid of one of the cluster's processes, as `apiserver`. */
  pid(name) {
    return Number(readFileSync(join(this.directory, "pid", name), "utf8"));
  }
}
