import { availableParallelism, totalmem } from "node:os";
import { Problem } from "@cloud-sandbox/server-kit";
import { type OwnLimits, withOwnLimits } from "@cloud-sandbox/server-kit/handlers";
import type { LocalTemplate } from "./template-catalogue.js";

/**
 * The template with the limits that a create request asks for. Throws a 400 problem if this machine has less, unless sandboxes run
 * elsewhere: a cluster says itself what it cannot give.
 */
export function grantLimits(
  template: LocalTemplate,
  own: OwnLimits | undefined,
  isElsewhere: boolean,
): LocalTemplate {
  const { memoryMb = 0, vcpu = 0 } = own ?? {};
  const most = { memoryMb: Math.floor(totalmem() / 2 ** 20), vcpu: availableParallelism() };
  if (!isElsewhere && (memoryMb > most.memoryMb || vcpu > most.vcpu)) {
    const message = `The requested limits are larger than this machine, which has ${most.memoryMb} MiB of memory and ${most.vcpu} processors.`;
    throw new Problem(400, "LIMITS_UNAVAILABLE", message, { hint: "Ask for less in limits." });
  }
  return withOwnLimits(template, own);
}

/** Whether a machine booted with the limits of one template can be used for the other. */
export function haveSameLimits(one: LocalTemplate, other: LocalTemplate): boolean {
  return one.limits.memoryMb === other.limits.memoryMb && one.limits.vcpu === other.limits.vcpu;
}
