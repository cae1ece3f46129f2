/**
 * Finds the template that matches the name of a container image. No image is downloaded, and none is replaced by
 * something different.
 */
import {
  type ImageOffer,
  imageAnswer,
  imagesOf,
  type OfferedLanguage,
} from "@cloud-sandbox/protocol/image-answer";
import { ValidationError } from "../errors/errors.js";
import type { TemplateRecord } from "./template-record.js";

/** The template that matches an image. */
export interface ImageMatch {
  /** Name of the template. */
  template: string;
  /** How the template differs from what the image's name says, in sentences for people. Empty if it does not differ. */
  differences: string[];
}

/** The only template that images are matched with. */
const imageTemplate = "code-interpreter";

/** Patterns that find languages and their versions in a template's list of features. */
const languageFeatures: readonly (readonly [language: string, feature: RegExp])[] = [
  ["python", /^python\s+v?([\d.]+)/i],
  ["javascript", /^(?:javascript|node(?:\.?js)?)\s+v?([\d.]+)/i],
  ["go", /^go(?:lang)?\s+v?([\d.]+)/i],
  ["bash", /^bash\s+v?([\d.]+)/i],
];
const systemFeature = /^(debian|ubuntu|fedora)\s+([\d.]+)$/i;

export interface TemplateSource {
  get(name: string): Promise<TemplateRecord>;
  has(name: string): Promise<boolean>;
}

/** Matches a template's name or an image's name. Throws a `ValidationError` if neither matches. */
export async function matchImage(image: string, templates: TemplateSource): Promise<ImageMatch> {
  const offer = offerOf(await templates.get(imageTemplate));
  const answer = imageAnswer(image, offer);
  if (answer === undefined && (await templates.has(image))) return { template: image, differences: [] };
  if (answer === undefined || "refusal" in answer) throw unavailable(image, answer?.refusal, offer);
  return { template: imageTemplate, differences: [...answer.differences] };
}

function offerOf({ features }: TemplateRecord): ImageOffer {
  const versionOf = (feature: RegExp): string | undefined =>
    features.map((text) => feature.exec(text)?.[1]).find((version) => version !== undefined);
  const languages = languageFeatures
    .map(([language, feature]): OfferedLanguage => ({ language, version: versionOf(feature) }))
    .filter(({ version }) => version !== undefined);
  const [, id, version = ""] =
    features.map((text) => systemFeature.exec(text)).find((found) => found !== null) ?? [];
  return { languages, system: id === undefined ? undefined : { id: id.toLowerCase(), like: [], version } };
}

function unavailable(image: string, why: string | undefined, offer: ImageOffer): ValidationError {
  const shown = JSON.stringify(image.replace(/[^\x20-\x7e]/g, "?").slice(0, 120));
  return new ValidationError({
    summary: `The image ${shown} is not available on this server, and no other image is used in its place.${why === undefined ? "" : ` ${why}`}`,
    hint: `Use ${[...imagesOf(offer), "or the name of a template"].join(", ")}.`,
    code: "IMAGE_UNAVAILABLE",
  });
}
