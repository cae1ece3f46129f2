import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { egressRules } from "../egress/egress-policy.js";
import type { SandboxLifecycle } from "./sandbox-lifecycle.js";
import type { SandboxRecord } from "./sandbox-record.js";
import type { SandboxRegistry } from "./sandbox-registry.js";

interface SandboxEgressListsParts {
  readonly registry: SandboxRegistry;
  readonly lifecycle: SandboxLifecycle;
  readonly egress: EgressGateway;
}

/** Changes what sandboxes may reach while they exist. */
export class SandboxEgressLists {
  constructor(private readonly parts: SandboxEgressListsParts) {}

  /** Replaces both lists at once. Open connections that are refused now are closed. */
  async set(sandbox: SandboxRecord, { allow, deny }: ControlPlaneSchemas["EgressLists"]): Promise<void> {
    const { registry, lifecycle, egress } = this.parts;
    // A sandbox without internet access is refused also without lists.
    const rules = egressRules({ internetAccess: sandbox.egress.internetAccess, allow, deny: deny ?? [] });
    await lifecycle.between(sandbox, async () => {
      const { internetAccess } = sandbox.egress;
      await registry.change(sandbox, { egress: { internetAccess, allow, deny } });
      egress.setRules(sandbox.id, rules);
    });
  }
}
