import { existsSync } from "node:fs";
import { join } from "node:path";

/** Programs of the host that start machines, with the package of Debian that has each. */
const packages = { mount: "mount", nsenter: "util-linux", setpriv: "util-linux", unshare: "util-linux" };

/** The first of these programs that this process does not find, and what mends it. Undefined if all are there. */
export function missingProgram(
  names: readonly (keyof typeof packages)[],
): readonly [reason: string, fix: string] | undefined {
  const directories = (process.env.PATH ?? "/usr/bin:/bin").split(":");
  const name = names.find((one) => !directories.some((directory) => existsSync(join(directory, one))));
  return name && [`${name} is not installed`, `install it with "apt-get install ${packages[name]}"`];
}
