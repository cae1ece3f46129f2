import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";

/** Imports a module of the tests, which are TypeScript. `path` is relative to their directory. */
export async function testModule(path) {
  const vite = await createViteServer({
    ...{ configFile: false, logLevel: "error", appType: "custom" },
    // The packages of this checkout are built, and loaded as they are.
    ssr: { external: true },
    server: { middlewareMode: true, ws: false, watch: null },
  });
  try {
    return await vite.ssrLoadModule(fileURLToPath(new URL(`../test/${path}`, import.meta.url)));
  } finally {
    await vite.close();
  }
}
