/** The types of host-packages.mjs, for the configuration of Vitest and for tests. */

interface HostPackage {
  /** Its name in Debian. */
  readonly debian: string;
  isThere(): boolean;
}

export const sandboxPackages: readonly HostPackage[];
export const desktopPackages: readonly HostPackage[];
export const testPackages: readonly HostPackage[];
export function sandboxObstacle(): string | undefined;
export function canMount(): boolean;
