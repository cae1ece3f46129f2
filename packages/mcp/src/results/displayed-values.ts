/** The values that code displayed, as part of a tool's result: images as images, all others as text, cut to a limit. */
import { fromBase64, imageType, imageTypes, usableImage } from "@cloud-sandbox/server-kit/image-type";
import { limits } from "@cloud-sandbox/server-kit/limits";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RichOutput } from "cloud-sandbox";
import * as z from "zod";
import { cutMiddle } from "./output-limit.js";

export const displayedValues = z
  .array(z.looseObject({ type: z.string(), bytes: z.number() }))
  .optional()
  .describe("Images follow as image content");

type Content = CallToolResult["content"][number];

export interface Displayed {
  readonly values: z.output<typeof displayedValues>;
  readonly images: readonly Content[];
}

/** Models take about 5 MB of base64 for images. All images of a result together stay below that. */
const imageBudget = 4_000_000;
const mostImages = 10;
/** The most displayed values that a sandbox returns. */
const mostValues = limits.displayedValues;
/** The most bytes of one displayed text, and of all of them together. */
const textBudget = 4000;
const textsBudget = 12_000;

/**
 * Converts displayed values for a result. With `texts`, the result contains tables, JSON and other texts; without, it
 * only lists their types.
 */
export function displayed(outputs: readonly RichOutput[], { texts }: { readonly texts: boolean }): Displayed {
  const images: Content[] = [];
  let [imagesLeft, textsLeft] = [imageBudget, texts ? textsBudget : 0];
  const values = outputs.slice(0, mostValues).map(({ type, data }) => {
    const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    if (imageTypes.some((each) => each === type)) {
      const content = fromBase64(text);
      const bytes = content.length;
      const mimeType = imageType(content);
      if (mimeType === undefined) return { type, bytes, note: noImage };
      const base64 = content.toString("base64");
      if (images.length === mostImages) return { type: mimeType, bytes, note: tooMany };
      if (base64.length > imagesLeft) return { type: mimeType, bytes, note: tooLarge };
      imagesLeft -= base64.length;
      images.push({ type: "image", data: base64, mimeType });
      return { type: mimeType, bytes };
    }
    const bytes = Buffer.byteLength(text);
    const shown = cutMiddle(text, Math.min(textBudget, textsLeft));
    if (textsLeft <= 0) return { type, bytes };
    textsLeft -= Buffer.byteLength(shown.text);
    return { type, bytes, data: shown.text };
  });
  // The empty list is told where the caller asked for what the code displays.
  return { values: values.length > 0 || texts ? values : undefined, images };
}

const tooMany = `Only the first ${mostImages} images are shown: display fewer at a time.`;
const noImage = `Not shown: it is not ${usableImage}.`;
const tooLarge = "Too large to show: save a smaller version to a file and read that.";
