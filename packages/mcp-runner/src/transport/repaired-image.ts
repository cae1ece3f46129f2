import { fromBase64, imageType, usableImage } from "@cloud-sandbox/server-kit/image-type";

type Fields = Readonly<Record<string, unknown>>;

/**
 * A part of a result. An image gets the label that its bytes have; what is none becomes a text that says so. A resource that is
 * labelled as an image gets a label, too: clients show it as one.
 */
export function repairedImage(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  const { blob, data, mimeType, resource, type } = part as Fields;
  if (type === "resource") return { ...part, resource: repairedImage(resource) };
  if (type === "image" && typeof data === "string") {
    const bytes = fromBase64(data);
    const found = imageType(bytes);
    if (found !== undefined) return { ...part, data: bytes.toString("base64"), mimeType: found };
    const label = typeof mimeType === "string" ? `image (${mimeType.slice(0, 100)})` : "image";
    return {
      type: "text",
      text: `[${label} of ${bytes.length} bytes is left out: it is not ${usableImage}]`,
    };
  }
  if (typeof blob !== "string" || typeof mimeType !== "string" || !isShown(mimeType)) return part;
  return { ...part, mimeType: imageType(fromBase64(blob)) ?? "application/octet-stream" };
}

const isShown = (mimeType: string): boolean => /^image\/(png|jpe?g|gif|webp)\b/i.test(mimeType);
