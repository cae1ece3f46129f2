/**
 * Stands in for the package modern-tar in bundles for browsers, which have no local files (`browser` in package.json).
 * Never called: `nodeModules()` throws before.
 */
export const createTarPacker = undefined;
export const unpackTar = undefined;
