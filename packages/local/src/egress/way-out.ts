import type { Socket } from "node:net";
import type { Destination } from "./destination.js";
import type { EgressProtocol } from "./egress-log.js";

/** What a proxy uses of one sandbox's way to the internet. */
export interface WayOut {
  /** Connects to a destination that the sandbox's policy allows; throws an EgressProblem that says why there is no connection. */
  connect(protocol: EgressProtocol, destination: Destination, signal: AbortSignal): Promise<Socket>;
  /** Closes the connection once no byte went over it for a while. */
  watchIdle(socket: Socket): void;
}
