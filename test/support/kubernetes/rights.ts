import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { kubectl, ownCluster } from "./kubernetes-server.js";

export interface Rights {
  /** As `create pods`. */
  readonly given: ReadonlySet<string>;
  readonly used: ReadonlySet<string>;
}

/** The rights that a namespace gives to its servers' account, and those that the account has used since the cluster began. */
export async function serverRights(namespace: string): Promise<Rights> {
  const list = await kubectl("get", "roles", "--namespace", namespace, "--output", "json");
  const given = new Set<string>();
  for (const { rules } of JSON.parse(list).items)
    for (const { resources, verbs } of rules)
      for (const verb of verbs) given.add(`${verb} ${resources.join()}`);
  const used = new Set<string>();
  const audit = await readFile(join(ownCluster().directory, "log/audit"), "utf8");
  for (const line of audit.trim().split("\n")) {
    const { user, verb, objectRef, responseStatus } = JSON.parse(line);
    if (user.username !== `system:serviceaccount:${namespace}:cloud-sandbox-local`) continue;
    // An API server that has just started refuses everything until it has read all roles.
    if (responseStatus?.code === 403) continue;
    const { resource, subresource } = objectRef ?? {};
    if (resource) used.add(`${verb} ${[resource, subresource].filter(Boolean).join("/")}`);
  }
  return { given, used };
}
