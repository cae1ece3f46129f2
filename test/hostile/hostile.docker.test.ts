import { withoutDocker } from "../support/docker/docker-server.js";
import { hostileContainers, notInContainers } from "./hostile-containers.js";

hostileContainers({ place: "in a container", obstacle: withoutDocker(), notHere: notInContainers });
