import { afterEach, expect, test } from "vitest";
import { kubectl, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";
import { ClusterChaos } from "./cluster-chaos.js";

const obstacle = withoutKubernetes();
const kills = Number(process.env.CHAOS_KILLS ?? 1);
const seed = Number(process.env.CHAOS_SEED ?? 20_260_101);
const args = ["--kubernetes-records", "--pool", "1", "--host", "0.0.0.0"];

if (obstacle !== undefined) test("servers of a cluster that are killed", ({ skip }) => skip(obstacle));
else {
  afterEach(async () => {
    const own = ["-l", "app.kubernetes.io/managed-by=cloud-sandbox"];
    await kubectl("delete", "configmaps,pods", ...own, "--grace-period=0", "--force");
    await kubectl("delete", "leases,secrets", ...own);
  });

  // By hand: CHAOS_KILLS=100 npx vitest run --project kubernetes test/kubernetes/cluster-chaos
  test(`servers, Pods, a node and the API server are killed ${kills} times under load: nothing is lost, doubled or left`, {
    timeout: 600_000 + kills * 60_000,
  }, async () => {
    const {
      acknowledged,
      wrong,
      orphans,
      kills: killed,
      ...numbers
    } = await ClusterChaos.run(kills, seed, args);
    console.log(`CHAOS_SEED=${seed}`);
    console.table({ ...killed, ...numbers });
    console.table(acknowledged);
    expect({ wrong, orphans }).toEqual({ wrong: [], orphans: [] });
  });
}
