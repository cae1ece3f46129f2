import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { call } from "./api.js";
import type { Tally } from "./tally.js";

/** A template, with what its builder knows of it. */
export interface BuiltTemplate {
  readonly name: string;
  readonly buildId: string;
  /** The text that the template's only step writes to `stampFile`. */
  readonly stamp: string;
  /** `accepted` until the server has said that the build succeeded. */
  state: "accepted" | "active" | "deleted";
  /** Whether a request to delete the template was never answered. */
  perhapsDeleted: boolean;
  isBusy: boolean;
}

export const stampFile = "/data/stamp";

/**
 * The template builds that the server has accepted. After a restart each must be known, either as successful or as
 * failed with a reason.
 */
export class AcceptedBuilds {
  readonly #templates = new Map<string, BuiltTemplate>();
  #count = 0;

  constructor(private readonly tally: Tally) {}

  get free(): readonly BuiltTemplate[] {
    return [...this.#templates.values()].filter(
      ({ isBusy, state, perhapsDeleted }) => !isBusy && !perhapsDeleted && state !== "deleted",
    );
  }

  async start(url: string): Promise<void> {
    this.#count += 1;
    const [name, stamp] = [`chaos-template-${this.#count}`, `stamp-${this.#count}`];
    const steps = [{ type: "RUN", args: [`mkdir -p /data && printf ${stamp} > ${stampFile}`] }];
    const body = { name, from_image: "base", cpu: 1, memory: 512, diskGB: 1, steps };
    const answer = await this.tally.ask("template build", () =>
      call(url, "POST", "/v1/templates/build", body),
    );
    if (!answer) return;
    const buildId = String(answer.body.build_id);
    this.#templates.set(name, {
      name,
      buildId,
      stamp,
      state: "accepted",
      perhapsDeleted: false,
      isBusy: false,
    });
  }

  /** Whether sandboxes can be created from the template now. */
  async isActive(url: string, template: BuiltTemplate): Promise<boolean> {
    const { buildId } = template;
    const answer = await this.tally.ask("build status", () => status(url, buildId));
    if (answer?.body.status === "failed" && template.state === "accepted")
      this.tally.refusals.push(`build ${buildId} has failed: ${answer.body.error_message}`);
    if (answer?.body.status === "active") template.state = "active";
    return answer?.body.status === "active";
  }

  async delete(url: string, template: BuiltTemplate): Promise<void> {
    template.perhapsDeleted = true;
    const answer = await this.tally.ask("template delete", () =>
      call(url, "DELETE", `/v1/templates/${template.name}`),
    );
    if (!answer) return;
    template.perhapsDeleted = false;
    template.state = "deleted";
  }

  /**
   * Lists what is wrong about the templates after a restart. Then deletes templates that failed, or whose build was
   * never answered.
   */
  async contradictions(url: string): Promise<string[]> {
    const { body } = await call(url, "GET", "/v1/templates");
    const listed = new Map(
      (body.data as { name: string; status: string }[]).map(({ name, status }) => [name, status]),
    );
    const wrong: string[] = [];
    for (const template of [...this.#templates.values()]) {
      const found = await status(url, template.buildId);
      wrong.push(...wrongAbout(template, found.body, listed.get(template.name)));
      if (listed.get(template.name) === "active") {
        Object.assign(template, { state: "active", perhapsDeleted: false, isBusy: false });
        continue;
      }
      this.#templates.delete(template.name);
    }
    for (const name of listed.keys())
      if (name.startsWith("chaos-template-") && !this.#templates.has(name))
        await call(url, "DELETE", `/v1/templates/${name}`);
    return wrong;
  }

  /** Layers that no template uses, and no sandbox of a deleted template. */
  async abandonedLayers(dataDirectory: string, inUse: ReadonlySet<string>): Promise<string[]> {
    const owned = new Set([...this.#templates.values()].map(({ buildId }) => buildId));
    const layers = await readdir(join(dataDirectory, "layers"));
    return layers.filter((name) => !owned.has(name) && !inUse.has(name)).map((name) => `layer: ${name}`);
  }
}

const status = (url: string, buildId: string) => call(url, "GET", `/v1/templates/build/${buildId}/status`);

function wrongAbout(
  { name, buildId, state, perhapsDeleted }: BuiltTemplate,
  build: Readonly<Record<string, unknown>>,
  listedAs: string | undefined,
): string[] {
  if (state === "deleted") return listedAs === undefined ? [] : [`${name} is there again; it was deleted`];
  if (listedAs === undefined && perhapsDeleted) return [];
  const isActive = build.status === "active";
  return [
    ...(isActive || (build.status === "failed" && state === "accepted" && build.error_message)
      ? []
      : [`build ${buildId}, which was ${state}, is ${JSON.stringify(build)}`]),
    ...(listedAs === build.status ? [] : [`${name} is ${listedAs}; its build is ${String(build.status)}`]),
  ];
}
