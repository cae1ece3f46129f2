import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { kubectl, ownCluster } from "./kubernetes-server.js";

const name = "node2";

/** The second node of the tests' cluster. */
export const secondNode = {
  name,

  /** Starts it, for the first time or after its end. Its disk is kept. Resolves when the cluster says that it is ready. */
  async start(): Promise<void> {
    await script("node");
  },

  /** Ends it with all that runs on it, as a machine that loses its power. */
  async kill(): Promise<void> {
    await script("kill-node");
  },

  /** Ends it, and the cluster forgets it and its Pods. */
  async remove(): Promise<void> {
    await script("kill-node");
    await kubectl("delete", "node", name, "--ignore-not-found");
  },

  /** The names of the Pods that the cluster has placed on it. */
  async pods(): Promise<string[]> {
    const on = ["--field-selector", `spec.nodeName=${name}`, "--output", "name"];
    return (await kubectl("get", "pods", ...on)).split("\n").filter((line) => line !== "");
  },
};

/** Runs a script on the second node. */
async function script(program: "node" | "kill-node"): Promise<void> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  await promisify(execFile)(path, [ownCluster().directory, "2"]);
}
