/** What code displayed, as a result shows it: images as images, the rest as text within bounds. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RichOutput } from "cloud-sandbox";
import * as z from "zod";
import { cutMiddle } from "./output-limit.js";

export const displayedValues = z
  .array(z.looseObject({ type: z.string().describe("MIME type"), bytes: z.number() }))
  .optional()
  .describe("What the code displayed; images follow as image content");

type Content = CallToolResult["content"][number];

export interface Displayed {
  readonly values: z.output<typeof displayedValues>;
  readonly images: readonly Content[];
}

/** Models take images of some 5 MB, as base64; all of a result's together stay below that. */
const imageBudget = 4_000_000;
const mostImages = 10;
/** A real sandbox has no more. */
const mostValues = 64;
/** Bytes of each text, and of all. */
const textBudget = 4000;
const textsBudget = 12_000;

/** With `texts`, frames, JSON and other text are shown too, not only named. */
export function displayed(outputs: readonly RichOutput[], { texts }: { readonly texts: boolean }): Displayed {
  const images: Content[] = [];
  let [imagesLeft, textsLeft] = [imageBudget, texts ? textsBudget : 0];
  const values = outputs.slice(0, mostValues).map(({ type, data }) => {
    const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    if (shownAsImage.has(type)) {
      const base64 = text.replaceAll(/\s/g, "");
      const bytes = Math.floor((base64.length * 3) / 4);
      if (images.length === mostImages) return { type, bytes, note: tooMany };
      if (base64.length > imagesLeft) return { type, bytes, note: tooLarge };
      imagesLeft -= base64.length;
      images.push({ type: "image", data: base64, mimeType: type });
      return { type, bytes };
    }
    const bytes = Buffer.byteLength(text);
    const shown = cutMiddle(text, Math.min(textBudget, textsLeft));
    if (textsLeft <= 0) return { type, bytes };
    textsLeft -= Buffer.byteLength(shown.text);
    return { type, bytes, data: shown.text };
  });
  return { values: values.length > 0 ? values : undefined, images };
}

/** What models see as an image. */
export const shownAsImage: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

const tooMany = `Only the first ${mostImages} images are shown: display fewer at a time.`;
const tooLarge = "Too large to show: save it to a file, smaller, and read that.";
