import type { Socket } from "node:net";
import type { Destination } from "./destination.js";
import type { Dialed } from "./dialer.js";
import type { EgressProtocol } from "./egress-log.js";

/** The part of a sandbox's access to the internet that a proxy uses. */
export interface EgressAccess {
  /** Connects to a destination that the sandbox's policy allows; throws an EgressProblem that says why there is no connection. */
  connect(protocol: EgressProtocol, destination: Destination, signal: AbortSignal): Promise<Dialed>;
  /** Closes the connection once no byte went over it for a while. */
  watchIdle(socket: Socket): void;
}
