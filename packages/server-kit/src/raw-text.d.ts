/**
 * A file imported as text, such as a program that is passed to an interpreter. The build puts the text into
 * the bundle (scripts/raw-text.ts).
 */
declare module "*?raw" {
  const text: string;
  export default text;
}
