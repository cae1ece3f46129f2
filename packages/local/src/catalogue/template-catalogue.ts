import { readFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import type { ControlPlaneSchemas, OfferedSystem } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { type OwnLimits, withOwnLimits } from "@cloud-sandbox/server-kit/handlers";
import { hostPackages } from "../runtime/host/host-packages.js";
import type { MachineImage, MachineLimits } from "../runtime/sandbox-runtime.js";
import { systemNamedBy } from "../runtime/system-release.js";
import { hasDesktop } from "./desktop-packages.js";
import { findHostLanguages } from "./host-languages.js";
import { installedPackages } from "./installed-packages.js";
import type { ReadyCheck } from "./ready-check.js";

export interface LocalTemplate {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  /** Of less than 60 characters. */
  readonly description: string;
  readonly details?: string | undefined;
  readonly category: string;
  readonly limits: MachineLimits;
  /** Set on the copy of a template that belongs to a sandbox which asked for its own limits; `limits` includes them. */
  readonly ownLimits?: OwnLimits;
  readonly languages: readonly OfferedLanguage[];
  /** Whether sandboxes have a desktop. Undefined: if their files have the programs of one. */
  readonly desktop?: boolean | undefined;
  /** The container image that its sandboxes are started from, with a runtime that has images. */
  readonly image?: string | undefined;
  readonly system?: OfferedSystem | undefined;
  /** The only language of the template; undefined if it has all languages. */
  readonly language?: string | undefined;
  /** Set for templates that were built on this machine; undefined for the two default templates, which show the host itself. */
  readonly built?: BuiltTemplate;
}

export interface BuiltTemplate {
  readonly status: "building" | "active" | "failed";
  readonly buildId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fromImage: string;
  /** Sentences for people: how the template differs from the image it names. */
  readonly differences: readonly string[];
  /** Host directories, the lowest layer first. */
  readonly layers: readonly string[];
  /** Whether the lowest layer is all files of an imported image. */
  readonly isImage?: boolean | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** The directory in which the start command and the programs of sandboxes start. */
  readonly workdir: string;
  /** The user of a USER step. Default: the machine's own. */
  readonly user?: TemplateUser | undefined;
  readonly startCommand: string | undefined;
  readonly readyCheck: ReadyCheck | undefined;
  /** Stored secrets that its sandboxes have, by variable. */
  readonly secrets?: ControlPlaneSchemas["NamedSecrets"] | undefined;
}

/** A user of the template's `/etc/passwd`. */
export interface TemplateUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** A language that a template has. Its version is unknown until a sandbox was started from the template's image. */
export interface OfferedLanguage {
  readonly language: string;
  readonly version: string | undefined;
}

/** The languages that an image is assumed to have until its trial has found them. The agent refuses one that is not there. */
const assumedLanguages: readonly OfferedLanguage[] = ["python", "javascript", "bash", "go"].map(
  (language) => ({ language, version: undefined }),
);

/** The name and id of the template with a desktop. The cloud has the same. */
const desktopName = "desktop";
const desktopId = "399";

/** Ids of images' templates start here: those of built templates are far below, and clients expect numbers. */
const firstImageId = 1_000_000_000;

/** The templates of this machine. Sandboxes see the host's `/usr`, so the default templates hold what the host has installed. */
export class TemplateCatalogue {
  readonly #built = new Map<string, LocalTemplate>();
  #packages: { readonly of: string; readonly list: Promise<readonly string[]> } | undefined;

  private constructor(
    private readonly own: readonly LocalTemplate[],
    private readonly ofHost: boolean,
    /** The template of the host's desktop, whose packages may be installed while the server runs. */
    private readonly desktop?: LocalTemplate,
  ) {}

  /** `images`: those of the runtime, if its sandboxes have not the programs of this machine. */
  static async open(
    limits: MachineLimits,
    images: readonly MachineImage[] | undefined,
  ): Promise<TemplateCatalogue> {
    const [image] = images ?? [];
    if (images && image) return new TemplateCatalogue(imageTemplates(limits, image, images), false);
    const [languages, system] = await Promise.all([findHostLanguages(), findHostSystem()]);
    const common = { limits, languages, system };
    const languageList = languages.map(({ language, version }) => `${language} ${version}`).join(", ");
    return new TemplateCatalogue(
      [
        {
          id: "20",
          name: "code-interpreter",
          displayName: "Code interpreter",
          description: "Runs code in any language of this machine.",
          details: `Languages: ${languageList}.`,
          category: "development",
          ...common,
          desktop: false,
        },
        {
          id: "1",
          name: "base",
          displayName: "Base",
          description: "A plain shell with the programs of this machine.",
          details: `Languages: ${languageList}.`,
          category: "operating-system",
          ...common,
          desktop: false,
        },
      ],
      true,
      {
        id: desktopId,
        name: desktopName,
        displayName: "Desktop",
        description: "A graphical desktop with the programs of this machine.",
        details: `Languages: ${languageList}.`,
        category: "desktop",
        ...common,
        desktop: true,
      },
    );
  }

  list(): readonly LocalTemplate[] {
    const desktop = this.desktop && hasDesktop() ? [this.desktop] : [];
    return [...this.own, ...desktop, ...this.#built.values()];
  }

  /** What brings a template that does not exist, if that is known. */
  advice(nameOrId: string): string | undefined {
    if (![desktopId, desktopName].includes(nameOrId)) return undefined;
    if (!this.ofHost)
      return "Start the server with an image of that name: images/Dockerfile of this project has one.";
    return `Its packages are missing on this machine: "cloud-sandbox-local setup desktop" installs them.`;
  }

  /** Finds a template by name or id: clients use either. */
  find(nameOrId: string): LocalTemplate | undefined {
    return this.list().find(({ id, name }) => name === nameOrId || id === nameOrId);
  }

  named(wanted: string): LocalTemplate | undefined {
    return this.list().find(({ name }) => name === wanted);
  }

  /** Adds a built template, or replaces the one with the same id. */
  put(template: LocalTemplate): void {
    this.#built.set(template.id, template);
  }

  remove(id: string): void {
    this.#built.delete(id);
  }

  /** The notable packages of the host, which every template has unless templates are images. Found anew when the host gets others. */
  packages(): Promise<readonly string[]> {
    if (!this.ofHost) return Promise.resolve([]);
    const of = hostPackages();
    if (this.#packages?.of !== of) this.#packages = { of, list: installedPackages() };
    return this.#packages.list;
  }
}

function imageTemplates(
  limits: MachineLimits,
  first: MachineImage,
  images: readonly MachineImage[],
): readonly LocalTemplate[] {
  const one = (image: MachineImage, id: string, name: string, displayName: string, category: string) => ({
    id,
    name,
    displayName,
    category,
    limits,
    image: image.name,
    // Read each time: what an image has is known once a sandbox was started from it.
    description: "Sandboxes of a container image.",
    get details() {
      const { languages } = image.contents ?? {};
      const list = languages?.map(({ language, version }) => `${language} ${version}`).join(", ") || "none";
      const known = languages ? list : "known once a sandbox was started";
      return `The image is ${image.name}. Languages: ${known}.`;
    },
    get languages() {
      return image.contents?.languages ?? assumedLanguages;
    },
    get system() {
      return image.contents?.system;
    },
  });
  const desktop = images.find(({ name }) => isDesktop(name));
  return [
    one(first, "20", "code-interpreter", "Code interpreter", "development"),
    one(first, "1", "base", "Base", "operating-system"),
    ...(desktop ? [one(desktop, desktopId, desktopName, "Desktop", "desktop")] : []),
    ...images
      .map((image, index) =>
        one(image, String(firstImageId + index), image.name, image.name, "operating-system"),
      )
      .filter(({ name }) => name !== desktopName),
  ];
}

/** Whether an image is called `desktop`, or something that ends so, such as `ghcr.io/me/my-desktop:1`. */
const isDesktop = (image: string): boolean => /(^|[/-])desktop(:[^/]*|@[^/]*)?$/.test(image);

/** The operating system of this machine and so of its sandboxes; undefined if `/etc/os-release` does not name it. */
async function findHostSystem(): Promise<OfferedSystem | undefined> {
  return systemNamedBy(await readFile("/etc/os-release", "utf8").catch(() => ""));
}

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
