import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Puts scripts in place of `apt-get` and `apt` that say, when one fails, that code is not root and what would help. They run
 * copies of the programs in `parts`. `usr` is the skeleton of machines in which code is not root.
 */
export function placeAptAdvice(parts: string, opt: string, usr: string): void {
  const directory = join(parts, "apt");
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  // The rest of the skeleton is made meanwhile, which may not have come to this directory.
  mkdirSync(join(usr, "bin"), { recursive: true });
  chmodSync(join(usr, "bin"), 0o777);
  for (const name of ["apt-get", "apt"].filter((each) => existsSync(`/usr/bin/${each}`))) {
    copyFileSync(`/usr/bin/${name}`, join(directory, name));
    writeFileSync(join(usr, "bin", name), script(name, `${opt}/apt/${name}`));
    for (const path of [join(directory, name), join(usr, "bin", name)]) chmodSync(path, 0o755);
  }
}

const script = (name: string, program: string): string => `#!/bin/sh
${program} "$@"
code=$?
[ "$code" = 0 ] || echo "${name}: system packages need root, which code in this sandbox is not. Start the server as root with --root-inside, or install with pip or npm." >&2
exit "$code"
`;
