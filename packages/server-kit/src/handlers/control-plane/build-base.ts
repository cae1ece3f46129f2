import { type ImageOffer, imageAnswer, imagesOf } from "@cloud-sandbox/protocol/image-answer";
import { invalidBuild } from "./build-problems.js";
import type { TemplateFacts } from "./template-facts.js";

/** The template that a build starts from. */
export interface BuildBase<Template extends TemplateFacts> {
  readonly template: Template;
  /** The language that `from_image` is for. Undefined if it is for all languages. */
  readonly language: string | undefined;
  /** Sentences for people about what differs from what `from_image` says. */
  readonly differences: readonly string[];
}

/**
 * Returns the template that `from_image` names. If `from_image` names an image, returns that image if it was imported,
 * otherwise the first of `templates`, provided that it can stand in for the image. Nothing is downloaded.
 *
 * @throws a 400 problem that lists what can be built from.
 */
export function buildBase<Template extends TemplateFacts>(
  fromImage: string,
  templates: readonly Template[],
): BuildBase<Template> {
  const named =
    templates.find(({ id, name }) => id === fromImage || name === fromImage) ??
    templates.find(
      ({ built }) => built?.isImage && built.fromImage === fromImage && built.status === "active",
    );
  if (named?.built && named.built.status !== "active")
    throw invalidBuild(
      `from_image names template ${named.name}, which is ${named.built.status}.`,
      "Build from a template that is active.",
    );
  if (named)
    return { template: named, language: named.language, differences: named.built?.differences ?? [] };
  const [template] = templates;
  if (!template) throw new Error("There is no template to build from.");
  const offer: ImageOffer = { languages: template.languages, system: template.system };
  const answer = imageAnswer(fromImage, offer);
  if (answer && !("refusal" in answer)) return { template, ...answer };
  const shown = fromImage.length > 80 ? `${fromImage.slice(0, 80)}…` : fromImage;
  const active = templates.filter(({ built }) => !built || built.status === "active");
  const offers = [...active.map(({ name }) => name), ...imagesOf(offer)].join(", ");
  const why = answer ? ` ${answer.refusal}` : "";
  throw invalidBuild(
    `from_image ${JSON.stringify(shown.replace(/[^\x20-\x7e…]/g, "?"))} is not available on this machine, and no other image is used in its place.${why}`,
    `Build from one of ${offers}.`,
  );
}
