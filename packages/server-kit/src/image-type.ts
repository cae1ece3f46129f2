/**
 * Tells by its bytes whether a file is an image that models take. Their APIs refuse an image whose label is not what its bytes are,
 * and with it the whole conversation, again at every later message.
 */
import { imageDimensionsFromData } from "image-dimensions";

/** Media types that models take as images. */
export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof imageTypes)[number];

/** The formats that {@link imageType} recognizes, for messages about others. */
export const usableImage = "a whole PNG, JPEG, GIF or WebP image of at most 8000 pixels a side";

/** The most pixels of a side: Anthropic's API refuses larger images. */
const longestSide = 8000;

/** The media type of a whole image that models take. Undefined for other bytes. */
export function imageType(bytes: Uint8Array): ImageType | undefined {
  const { height = 0, type = "none", width = 0 } = imageDimensionsFromData(bytes) ?? {};
  const isInSize = Math.min(width, height) > 0 && Math.max(width, height) <= longestSide;
  const found = imageTypes.find((each) => each === `image/${type}`);
  return found !== undefined && isInSize && isWhole[found](asBuffer(bytes)) ? found : undefined;
}

const asBuffer = ({ buffer, byteLength, byteOffset }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Whether the file has its end, which a file that is still written, or was cut off, does not. */
const isWhole: Readonly<Record<ImageType, (file: Buffer) => boolean>> = {
  "image/png": (file) => file.includes("IEND"),
  "image/jpeg": (file) => file.lastIndexOf(Buffer.of(0xff, 0xd9)) > 0,
  "image/gif": (file) => file.includes(0x3b, 13),
  "image/webp": (file) => file.length >= file.readUInt32LE(4) + 8,
};

/** The bytes of base64, also of a data URL. Characters that are not of base64 are passed over. */
export function fromBase64(text: string): Buffer {
  return Buffer.from(text.replace(/^data:[^,]{0,200},/, ""), "base64");
}
