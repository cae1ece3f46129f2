/** Most lines that are kept. */
const mostLines = 200;

/** The last lines that a backend on this machine has logged. It runs in this process, so nobody else has them. */
const lines: string[] = [];

export function keepLine(line: string): void {
  lines.push(line);
  if (lines.length > mostLines) lines.shift();
}

/** What was logged about a request. */
export const linesAbout = (requestId: string): string[] => lines.filter((line) => line.includes(requestId));
