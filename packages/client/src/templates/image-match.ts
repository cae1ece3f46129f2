/** Which template stands in for a container image. Nothing is downloaded, and nothing else is put in an image's place. */
import { ValidationError } from "../errors.js";
import type { TemplateRecord } from "./template-record.js";

/** The template that comes next to an image. */
export interface ImageMatch {
  /** The template's name. */
  template: string;
  /** What is not as the image's name says: sentences for people. Empty where the template is what it says. */
  differences: string[];
}

/** What the images of these names are there for; every one of them is this template. */
const imageTemplate = "code-interpreter";
const imageLanguages: readonly ImageLanguage[] = [
  {
    title: "Python",
    feature: /^python\s+v?([\d.]+)/i,
    names: ["python", "microsandbox/python"],
    precision: 2,
  },
  {
    title: "Node.js",
    feature: /^(?:javascript|node(?:\.?js)?)\s+v?([\d.]+)/i,
    names: ["node", "microsandbox/node"],
    precision: 1,
  },
  { title: "Go", feature: /^go(?:lang)?\s+v?([\d.]+)/i, names: ["golang"], precision: 2 },
  { title: "Bash", feature: /^bash\s+v?([\d.]+)/i, names: ["bash"], precision: 2 },
];

interface ImageLanguage {
  readonly title: string;
  /** How a template tells among its features that it has it, and in which version. */
  readonly feature: RegExp;
  readonly names: readonly string[];
  /** Numbers of a version that the tags people use have. */
  readonly precision: number;
}

/** Tags that name an operating system, with or without a version of it. */
const systems = /^(?:bookworm|bullseye|buster|trixie|alpine[\d.]*)$/;

/** A template's own name, or what the table above knows; a `ValidationError` for everything else. */
export async function matchImage(image: string, templates: TemplateSource): Promise<ImageMatch> {
  const wanted = parseImage(image);
  const language = imageLanguages.find(({ names }) => names.includes(wanted?.name ?? ""));
  if (wanted === undefined || language === undefined) {
    if (await templates.has(image)) return { template: image, differences: [] };
    throw unavailable(image, "", await templates.get(imageTemplate));
  }
  const record = await templates.get(imageTemplate);
  const isTold = imageLanguages.some((one) => versionIn(record, one) !== undefined);
  const version = versionIn(record, language);
  if (version === undefined && isTold) throw unavailable(image, `It has no ${language.title}.`, record);
  if (version !== undefined && wanted.version !== "" && major(version) !== major(wanted.version))
    throw unavailable(image, `Its ${language.title} is ${version}.`, record);
  return { template: imageTemplate, differences: differences(image, wanted, language, version) };
}

export interface TemplateSource {
  get(name: string): Promise<TemplateRecord>;
  has(name: string): Promise<boolean>;
}

function differences(
  image: string,
  wanted: ParsedImage,
  { title }: ImageLanguage,
  version: string | undefined,
): string[] {
  const told: string[] = [];
  if (wanted.version !== "" && version === undefined)
    told.push(`${image} asks for ${title} ${wanted.version}; the server does not say which version it has.`);
  else if (
    version !== undefined &&
    !`${version}.`.startsWith(wanted.version === "" ? "" : `${wanted.version}.`)
  )
    told.push(`${image} asks for ${title} ${wanted.version}; it is ${title} ${version}.`);
  if (wanted.system !== undefined)
    told.push(`${image} asks for ${wanted.system}; the operating system is the template's own.`);
  return told;
}

interface ParsedImage {
  readonly name: string;
  readonly version: string;
  readonly system: string | undefined;
}

/** Undefined for what names a registry, a digest or a variant that nothing here can be. */
function parseImage(image: string): ParsedImage | undefined {
  const [, name, tag = ""] =
    /^(?:docker\.io\/)?(?:library\/)?([a-z0-9]+(?:\/[a-z0-9]+)?)(?::([\w.-]+))?$/.exec(image) ?? [];
  if (name === undefined) return undefined;
  const parts = tag.split("-").filter((part) => part !== "" && part !== "latest" && part !== "slim");
  const version = /^\d+(?:\.\d+){0,2}$/.test(parts[0] ?? "") ? (parts.shift() ?? "") : "";
  const [system, ...others] = parts;
  if (others.length > 0 || (system !== undefined && !systems.test(system))) return undefined;
  return { name, version, system };
}

function versionIn({ features }: TemplateRecord, { feature }: ImageLanguage): string | undefined {
  return features.map((told) => feature.exec(told)?.[1]).find((version) => version !== undefined);
}

function major(version: string): string {
  return version.split(".")[0] ?? "";
}

function unavailable(image: string, why: string, record: TemplateRecord): ValidationError {
  const offers = imageLanguages.flatMap((language) => {
    const version = versionIn(record, language)?.split(".").slice(0, language.precision).join(".");
    return version === undefined ? [] : [`${language.names[0]}:${version}`];
  });
  const shown = JSON.stringify(image.replace(/[^\x20-\x7e]/g, "?").slice(0, 120));
  return new ValidationError({
    summary: `The image ${shown} is not what this server has, and nothing else is put in its place.${why === "" ? "" : ` ${why}`}`,
    hint: `Use ${[...offers, "the name of a template"].join(", ")}.`,
    code: "IMAGE_UNAVAILABLE",
  });
}
