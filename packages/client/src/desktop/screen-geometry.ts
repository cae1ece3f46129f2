import { numberOr, requireWhole } from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";

/** A position on the screen, in pixels from the upper left corner. */
export interface Point {
  x: number;
  y: number;
}

/** A part of the screen, in pixels. */
export interface ScreenRegion {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Size of a screen or window, in pixels. */
export interface ScreenSize {
  width: number;
  height: number;
}

export function checkPoint(name: string, point: Point): void {
  for (const axis of ["x", "y"] as const) {
    const value = point?.[axis];
    if (!Number.isInteger(value))
      throw invalidArgument(`${name}.${axis} must be a whole number of pixels; it is ${numberOr(value)}.`);
  }
}

export function checkRegion(region: ScreenRegion): void {
  checkPoint("region", region);
  requireWhole("region.width", region.width, 1);
  requireWhole("region.height", region.height, 1);
}
