import type { Frame } from "./control-channel.js";
import { DisplayedValues } from "./displayed-values.js";

/** The end of an execution, as the interpreter's driver reports it. */
export interface ReportedEnd {
  readonly exitCode: number;
  /** Number of displayed values that the driver left out. */
  readonly dropped: number;
}

/**
 * The meaning of one frame. `refused`: the working directory cannot be used. `unconnected`: the pipes cannot be opened.
 */
export type Reported =
  | { readonly what: "started" | "unconnected" | "value" }
  | { readonly what: "refused"; readonly reason: string }
  | { readonly what: "ended"; readonly end: ReportedEnd };

/** Reads a driver's frames about one execution. */
export class ExecutionReport {
  readonly values = new DisplayedValues();
  isStarted = false;

  /**
   * Handles a frame. Undefined if the driver cannot have sent this frame at this point: then code in the sandbox wrote
   * the frame, and nothing on this channel can be trusted any more.
   */
  take({ kind, payload }: Frame): Reported | undefined {
    if (!this.isStarted) return this.#beginning(kind, payload);
    if (kind === "D") this.values.display(payload);
    else if (kind === "R") this.values.result(payload);
    else if (kind === "X") this.values.exception(payload);
    else if (kind === "E") return { what: "ended", end: reportedEnd(payload) };
    else return undefined;
    return { what: "value" };
  }

  #beginning(kind: string, payload: Buffer): Reported | undefined {
    if (kind === "F") return { what: "refused", reason: payload.toString() };
    if (kind === "P") return { what: "unconnected" };
    if (kind !== "S") return undefined;
    this.isStarted = true;
    return { what: "started" };
  }
}

function reportedEnd(payload: Buffer): ReportedEnd {
  const [code = 0, dropped = 0] = payload.toString().split(" ").map(Number);
  return { exitCode: code & 0xff, dropped: Number.isSafeInteger(dropped) ? dropped : 0 };
}
