import { applyPalette, quantize } from "gifenc";
import { PNG } from "pngjs";
import { FINALIZER, introducer, sixelEncode } from "sixel";

/** The most pixels of an image that is shown: a program can display any, and encoding takes a second for these. */
const mostPixels = 4_000_000;
/** Colours of an image: more are not in the standard of sixel. */
const mostColors = 256;
/** Keeps the terminal's background where the image is transparent. */
const keepBackground = 1;

/** The control sequence that shows a PNG image. Undefined if it is too large, or no valid image. */
export async function sixelImage(png: Buffer): Promise<string | undefined> {
  const size = sizeOf(png);
  if (size === undefined || size > mostPixels) return undefined;
  const image = await decoded(png).catch(() => undefined);
  if (image === undefined) return undefined;
  const { height, width } = image;
  const { palette, pixels } = reduced(new Uint8Array(image.data));
  return `${introducer(keepBackground)}${sixelEncode(pixels, width, height, palette)}${FINALIZER}\n`;
}

/** The image in the colours of a palette. The encoder leaves out all others; its own palette merges colours that are far apart. */
function reduced(pixels: Uint8Array): { pixels: Uint8Array; palette: [number, number, number][] } {
  const format = "rgb565";
  const palette = quantize(pixels, mostColors, { format });
  const indices = applyPalette(pixels, palette, format);
  const colours = Uint8Array.from(pixels, (value, position) => {
    const channel = position % 4;
    if (channel === 3) return value < 128 ? 0 : 255;
    return palette[indices[(position - channel) / 4] ?? 0]?.[channel] ?? 0;
  });
  return { pixels: colours, palette };
}

/** The number of pixels, as the beginning of a PNG image says. */
function sizeOf(png: Buffer): number | undefined {
  const isPng = png.length > 24 && png.toString("latin1", 12, 16) === "IHDR";
  return isPng ? png.readUInt32BE(16) * png.readUInt32BE(20) : undefined;
}

function decoded(png: Buffer): Promise<PNG> {
  return new Promise((resolve, reject) => {
    new PNG().parse(png, (error, image) => (error ? reject(error) : resolve(image)));
  });
}
