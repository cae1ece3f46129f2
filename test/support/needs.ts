import { testPackages } from "../../scripts/host-packages.mjs";

/**
 * What a case of a test needs, for `skip(...needs("golang-go"))`: whether a package is missing here, by its name in Debian, and that
 * in words. A test that needs it in every case says so with `{ tags: ["golang-go"] }`.
 */
export function needs(name: string, isNeeded = true): readonly [boolean, string] {
  const found = testPackages.find(({ debian }) => debian === name);
  if (found === undefined) throw new Error(`"${name}" is not in the list of scripts/host-packages.mjs`);
  return [isNeeded && !found.isThere(), `${name} is not installed`];
}
