import { withoutDocker } from "../support/docker/docker-server.js";
import { hostileContainers } from "./hostile-containers.js";

hostileContainers({ place: "in a container", obstacle: withoutDocker() });
