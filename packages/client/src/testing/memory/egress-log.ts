import type { EgressEntry, EgressTotals } from "@cloud-sandbox/server-kit/handlers";
import type { TestingClock } from "./testing-clock.js";

export interface EgressSettings {
  readonly internetAccess: boolean;
  readonly allow?: readonly string[] | null | undefined;
  readonly deny?: readonly string[] | null | undefined;
}

/** Log of the connections that programs in a sandbox asked for. None is really made. */
export class EgressLog {
  readonly entries: EgressEntry[] = [];

  constructor(
    private readonly settings: EgressSettings,
    private readonly clock: TestingClock,
  ) {}

  get totals(): EgressTotals {
    const count = (decision: string): number =>
      this.entries.filter((entry) => entry.decision === decision).length;
    return {
      allowed: count("allowed"),
      refused: count("refused"),
      failed: 0,
      dropped: 0,
      bytesSent: 0,
      bytesReceived: 0,
    };
  }

  connect(url: string): { allowed: boolean; reason: string } {
    const { hostname, port, protocol } = new URL(url);
    const reason = this.#refusal(hostname);
    const isTunnel = protocol === "https:";
    this.entries.push({
      sequence: this.entries.length,
      time: this.clock.now(),
      protocol: isTunnel ? "connect" : "http",
      host: hostname,
      port: port === "" ? (isTunnel ? 443 : 80) : Number(port),
      address: undefined,
      decision: reason === "" ? "allowed" : "refused",
      reason: reason === "" ? undefined : reason,
      isOpen: false,
      bytesSent: 0,
      bytesReceived: 0,
      durationMs: 0,
    });
    return { allowed: reason === "", reason };
  }

  #refusal(host: string): string {
    const { internetAccess, allow, deny } = this.settings;
    if (!internetAccess) return "The sandbox has no internet access. Create it with internet_access: true.";
    if (deny?.some((pattern) => matches(pattern, host))) return `${host} is on the sandbox's deny list.`;
    if (allow && !allow.some((pattern) => matches(pattern, host)))
      return `${host} is not on the sandbox's allow list.`;
    return "";
  }
}

/** Whether a host matches a pattern: a name (`example.com`) or all names below one (`*.example.com`). */
const matches = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
