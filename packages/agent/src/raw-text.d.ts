/** The text of a program that the agent gives to an interpreter. The build puts it into the bundle (scripts/raw-text.ts). */
declare module "*?raw" {
  const text: string;
  export default text;
}
