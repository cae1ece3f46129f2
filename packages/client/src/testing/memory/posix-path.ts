/** The absolute, normalized form of a path. Relative paths start at `base`. */
export function resolvePath(base: string, path: string): string {
  const steps: string[] = [];
  for (const step of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}

export const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf("/"), 1));

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Whether a path is `root` or below it. Both must be normalized. */
export const isWithin = (path: string, root: string): boolean =>
  root === "/" || path === root || path.startsWith(`${root}/`);
