import { withoutGvisor } from "../support/docker/docker-server.js";
import { hostileContainers } from "./hostile-containers.js";

const needsHostView =
  "the test needs the host's view of the processes inside, and the host sees none of gVisor's";
const ownKernel = "gVisor allows it, within its own kernel";
const endsWhole = "gVisor's memory is that of one process of the host: at the limit, the sandbox ends";

/** What does not hold, or cannot be seen, under gVisor. */
const notUnderGvisor: Readonly<Record<string, string>> = {
  "meet others at what hides the kernel's files": "each sandbox has its own kernel, with equal inodes",
  "make namespaces, mounts and devices": ownKernel,
  "take on the agent's uid": ownKernel,
  "leave a process behind": needsHostView,
  "starve the agent, or bind it": ownKernel,
  "read and change the agent's memory": "gVisor shows variables and memory maps of the agent, but no memory",
  "have the agent's descriptors passed on": "gVisor opens those that are files: pipes of code's own",
  "open the agent's inspector while it boots": needsHostView,
  "become the agent by configuring its OpenSSL": needsHostView,
  "become the agent by the environment of its restart": needsHostView,
  "have the agent run a program in its place": needsHostView,
  "plant something in the agent's own state": needsHostView,
  "gain rights through a volume, or take it from the others that mount it":
    "gVisor's containers have no volumes",
  "fill the host's memory with replies of the kernel that nobody reads": ownKernel,
  "fill the host's memory with locks on files": ownKernel,
  "take every asynchronous request of the host": ownKernel,
  "take 10 GB of memory at once": endsWhole,
  "take 10 GB of memory in shared pages": endsWhole,
  "take 2 GB of memory in many processes": endsWhole,
};

hostileContainers({
  place: "in a container with gVisor",
  obstacle: withoutGvisor(),
  args: ["--docker-runtime", "runsc"],
  notHere: notUnderGvisor,
  countsProcesses: false,
});
