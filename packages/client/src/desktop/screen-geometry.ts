/** Places and sizes on the screen, in pixels from its upper left corner. */
export interface Point {
  x: number;
  y: number;
}

export interface ScreenRegion {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface ScreenSize {
  width: number;
  height: number;
}
