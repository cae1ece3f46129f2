/** The functions of gifenc, which has no types, that reduce the colours of an image. */
declare module "gifenc" {
  type Colour = [red: number, green: number, blue: number];
  /** A palette of at most `mostColours` for pixels of four bytes each: red, green, blue and alpha. */
  export function quantize(pixels: Uint8Array, mostColours: number, options: { format: "rgb565" }): Colour[];
  /** The index of the nearest colour of a palette for each pixel. */
  export function applyPalette(pixels: Uint8Array, palette: readonly Colour[], format: "rgb565"): Uint8Array;
}
