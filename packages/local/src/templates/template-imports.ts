import type { Readable } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import {
  type ImageSpec,
  invalidBuild,
  noRoomForLayers,
  tooManyBuilds,
} from "@cloud-sandbox/server-kit/handlers";
import type { BuiltTemplate, LocalTemplate, TemplateCatalogue } from "../catalogue/template-catalogue.js";
import { type ImportedImage, importImage } from "../images/image-import.js";
import type { LayerStore } from "../store/layer-store.js";
import type { TemplateBuilder } from "./template-builder.js";
import type { TemplateBuilds } from "./template-builds.js";

const importsAtATime = 2;
/** Free bytes that an import leaves on the disk. */
const spareBytes = 1024 ** 3;
const mostImageBytes = 32 * 1024 ** 3;
const mostFiles = 1_000_000;

export interface TemplateImportsOptions {
  readonly catalogue: TemplateCatalogue;
  readonly builds: TemplateBuilds;
  readonly builder: TemplateBuilder;
  readonly layers: LayerStore;
}

/** Makes templates of container images: unpacks an image to a layer, starts it once, and adds the template. */
export class TemplateImports {
  readonly #running = new Set<Promise<LocalTemplate>>();
  readonly #closing = new AbortController();

  constructor(private readonly options: TemplateImportsOptions) {}

  /** Resolves when the template is active. If the import fails or `signal` fires, nothing of it is left. */
  async receive(spec: ImageSpec, body: Readable, signal: AbortSignal): Promise<LocalTemplate> {
    const { builds, layers } = this.options;
    builds.requireAvailable();
    if (spec.name !== undefined) builds.requireFree(spec.name, spec.update);
    if (this.#running.size >= importsAtATime) throw tooManyBuilds(importsAtATime);
    const id = builds.newId();
    const importing = this.#import(spec, id, body, AbortSignal.any([signal, this.#closing.signal]));
    this.#running.add(importing);
    try {
      return await importing;
    } finally {
      this.#running.delete(importing);
      // Removes the layers of the template that was replaced.
      await layers.collect();
    }
  }

  /** Ends every import. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The control plane was stopped."));
    await Promise.allSettled(this.#running);
  }

  async #import(spec: ImageSpec, id: string, body: Readable, signal: AbortSignal): Promise<LocalTemplate> {
    const { builds, builder, layers } = this.options;
    const bytes = Math.min((await layers.freeBytes()) - spareBytes, mostImageBytes);
    if (bytes <= 0) throw noRoomForLayers();
    const layer = await layers.path(id);
    const release = layers.hold([layer]);
    try {
      const image = await importImage(body, layer, { bytes, entries: mostFiles }, signal);
      const name = spec.name ?? image.reference;
      if (name === undefined)
        throw invalidBuild("The image has no name in its file.", "Say what the template is called.");
      const trial = this.#template(name, id, layer, image, undefined);
      const languages = await builder.findLanguages(trial, id, signal).catch((error: unknown) => {
        throw error instanceof Problem ? error : doesNotStart(error);
      });
      signal.throwIfAborted();
      const existing = builds.requireFree(name, spec.update);
      const template = this.#template(name, id, layer, image, existing);
      const made = { ...template, languages, built: withShell(template.built, languages) };
      builds.adopt(made, made.built);
      return made;
    } finally {
      release();
    }
  }

  #template(
    name: string,
    buildId: string,
    layer: string,
    { reference, environment, workdir, system, differences }: ImportedImage,
    existing: LocalTemplate | undefined,
  ) {
    const [host] = this.options.catalogue.list();
    if (!host) throw new Error("There is no template to take limits from.");
    const now = new Date().toISOString();
    const fromImage = reference ?? name;
    return {
      id: existing?.id ?? this.options.builds.newId(),
      name,
      displayName: name,
      description: "A container image, imported on this machine.",
      details: [`The image is ${fromImage}.`, ...differences].join(" "),
      category: "custom",
      limits: host.limits,
      languages: [],
      system,
      built: {
        status: "active" as const,
        isImage: true,
        buildId,
        layers: [layer],
        createdAt: existing?.built?.createdAt ?? now,
        updatedAt: now,
        fromImage,
        differences,
        environment,
        workdir,
        startCommand: undefined,
        readyCheck: undefined,
      },
    } satisfies LocalTemplate;
  }
}

/** Every sandbox has the variable SHELL. It names bash, which an image may lack. */
function withShell(built: BuiltTemplate, languages: LocalTemplate["languages"]): BuiltTemplate {
  if (languages.some(({ language }) => language === "bash")) return built;
  return { ...built, environment: { SHELL: "/bin/sh", ...built.environment } };
}

function doesNotStart(error: unknown): Problem {
  const reason = error instanceof Error ? error.message : String(error);
  return invalidBuild(
    `No sandbox of the image can be started: ${reason.replace(/\.?$/, ".")}`,
    "Check with cloud-sandbox-local doctor what this machine lacks.",
  );
}
