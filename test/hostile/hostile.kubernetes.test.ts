import { startKubernetesServer, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";
import { escaping, staying } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { notInContainers } from "./hostile-containers.js";
import { hostileSuite } from "./hostile-suite.js";
import { inCluster } from "./in-cluster.js";
import { kernel } from "./kernel.js";
import { reading, readingThroughFiles } from "./reading.js";
import { finding, sharing } from "./sharing.js";
import { takingOver } from "./taking-over.js";

const oneUser =
  "a Pod's container has one user, so that code can do to its sandbox's agent what it can do to itself";
const ownFilter = "the cluster has a filter of system calls of its own";
const oneGroup = "a Pod's processes have one limit, which its agent shares";

/** What does not hold in a Pod, or is the cluster's to hold. */
const notInPods: Readonly<Record<string, string>> = {
  "reach the control plane and the host over the network":
    "a Pod has a network, and no plug-in of the tests' cluster enforces its policy",
  "make namespaces, mounts and devices": ownFilter,
  "leave a process behind": "Kubernetes ends the processes of a deleted Pod after its answer",
  "read and change the agent's memory": oneUser,
  "have the agent's descriptors passed on": oneUser,
  "set limits for the agent and the init": oneUser,
  "starve the agent, or bind it": oneGroup,
  "fork without end": oneGroup,
  "take 2 GB of memory in many processes": oneGroup,
  "fill every disk": oneGroup,
};

hostileSuite({
  place: "in a Pod",
  obstacle: withoutKubernetes(),
  start: startKubernetesServer,
  ...{ isRoot: false, agentIsApart: false, codeIsRoot: false },
  attacks: [
    ...[...reading, ...kernel, ...finding, ...escaping, ...readingThroughFiles, ...sharing, ...staying],
    ...[...takingOver, ...exhausting, ...inCluster],
  ],
  notHere: { ...notInContainers, ...notInPods },
});
