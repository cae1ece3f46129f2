import type { AgentCalls } from "../agents/agent-calls.js";
import type { LocalTemplate, TemplateCatalogue } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import type { SandboxRuntime } from "../runtime/sandbox-runtime.js";
import type { MemoryBudget } from "../sandboxes/memory-budget.js";
import { LayerStore } from "../store/layer-store.js";
import type { ServerDirectories } from "../store/server-directories.js";
import type { Store } from "../store/store.js";
import { TemplateRepository } from "../store/template-repository.js";
import type { TokenIssuer } from "../tokens/token-issuer.js";
import { TemplateBuilder } from "./template-builder.js";
import { TemplateBuilds } from "./template-builds.js";
import { TemplateImports } from "./template-imports.js";
import { TemplateUploads } from "./template-uploads.js";

interface ServerParts {
  readonly catalogue: TemplateCatalogue;
  readonly runtime: SandboxRuntime;
  readonly tokens: TokenIssuer;
  readonly agents: AgentCalls;
  readonly egress: EgressGateway;
  readonly budget: MemoryBudget;
  readonly store: Store;
  readonly directories: ServerDirectories;
  /** What has a template that may have been rebuilt or deleted since: sandboxes, and snapshots of these. */
  readonly users: () => readonly { readonly template: LocalTemplate }[];
  /** Seconds that a build may take. */
  readonly timeoutSeconds: number;
}

/** What a control plane has for building and importing templates. */
export async function serverTemplates({ catalogue, store, directories, users, ...parts }: ServerParts) {
  const layers = new LayerStore(
    () => directories.kept("layers"),
    // Also keep the layers of every existing sandbox: a stopped sandbox starts again from the layers that it was
    // created with.
    () =>
      [...catalogue.list(), ...users().map(({ template }) => template)].flatMap(
        ({ built }) => built?.layers ?? [],
      ),
  );
  const uploads = new TemplateUploads(() => directories.temporary("uploads"));
  const builder = new TemplateBuilder({ ...parts, layers });
  const builds = new TemplateBuilds({
    catalogue,
    builder,
    uploads,
    layers,
    repository: store.directory === undefined ? undefined : new TemplateRepository(await store.database()),
    writes: store.writes,
    events: store.events,
    lack: parts.runtime.withoutLayers,
  });
  return { layers, uploads, builds, imports: new TemplateImports({ catalogue, builds, builder, layers }) };
}
