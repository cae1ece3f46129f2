// The rules of `npm run check -- imports`: which packages, folders of a package and files may import which others.
// Imports of types count too, because readers follow them as they follow others.

/**
 * The packages, with those that each may import. `lazily` are packages that it may import only by `await import()`;
 * importing their types is always allowed.
 */
const packages = {
  protocol: { name: "@cloud-sandbox/protocol", imports: [] },
  "server-kit": { name: "@cloud-sandbox/server-kit", imports: ["protocol"] },
  client: { name: "cloud-sandbox", imports: ["protocol", "server-kit"] },
  agent: { name: "cloud-sandbox-agent", imports: ["protocol", "server-kit"] },
  local: { name: "cloud-sandbox-local", imports: ["protocol", "server-kit"] },
  mcp: { name: "cloud-sandbox-mcp", imports: ["client", "server-kit"], lazily: ["mcp-runner"] },
  "mcp-runner": { name: "cloud-sandbox-mcp-runner", imports: ["client", "server-kit"] },
  cli: {
    name: "cloud-sandbox-cli",
    imports: ["client", "server-kit"],
    lazily: ["local", "mcp", "mcp-runner"],
  },
};

/**
 * The folders of a package in their order. A folder may import only folders before it: `transport` may import only `errors`.
 */
const folders = {
  client: [
    "errors",
    "transport",
    "config",
    "streams",
    "agent",
    "execution",
    "files",
    "machine",
    "templates",
    "desktop",
    "webhooks",
    "sandbox",
    "testing",
  ],
  local: [
    "addresses",
    "runtime",
    "relay",
    "errors",
    "catalogue",
    "store",
    "tokens",
    "agents",
    "egress",
    "webhooks",
    "sandboxes",
    "gateway",
    "images",
    "templates",
    "control-plane",
    "cluster",
  ],
};

/** Forbids every import of another package that `packages` does not allow, by the package's name or by a path. */
function packageArrows() {
  return Object.entries(packages).flatMap(([owner, { imports, lazily = [] }]) => {
    const others = Object.keys(packages).filter((other) => other !== owner && !imports.includes(other));
    const forbidden = others.filter((other) => !lazily.includes(other));
    const from = { path: `^packages/${owner}/src/` };
    return [
      arrow(`${owner}: may not import this package`, from, { path: target(forbidden) }),
      ...lazily.map((other) =>
        arrow(`${owner}: imports ${other} by await import() alone`, from, {
          // Match only the built package: while it is not built, dependency-cruiser does not report how it is imported.
          path: `^packages/${other}/`,
          dependencyTypesNot: ["dynamic-import", "type-only"],
        }),
      ),
    ];
  });
}

/** Matches imports of these packages, by path if they are built and by name if they are not. */
function target(owners) {
  return owners.map((owner) => `^packages/${owner}/|^${packages[owner].name}(/|$)`).join("|");
}

function folderArrows() {
  return Object.entries(folders).flatMap(([owner, order]) =>
    order.map((folder, index) => {
      const above = [...order.slice(index + 1).map((later) => `${later}/`), "[^/]+$"].join("|");
      return arrow(
        `${owner}/${folder}: may not import a folder above it`,
        { path: `^packages/${owner}/src/${folder}/` },
        { path: `^packages/${owner}/src/(${above})` },
      );
    }),
  );
}

function arrow(what, from, to) {
  return { name: `wrong arrow (${what})`, severity: "error", from, to };
}

/** @type {import("dependency-cruiser").IConfiguration} */
export const importRules = {
  forbidden: [
    {
      name: "file circle",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "folder circle",
      scope: "folder",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...packageArrows(),
    arrow(
      "client: imports the server kit below testing/ alone",
      { path: "^packages/client/src/", pathNot: "^packages/client/src/testing/" },
      { path: target(["server-kit"]) },
    ),
    arrow(
      "mcp, mcp-runner and cli: import user-cache.ts, image-type.ts and limits.ts alone of the server kit",
      { path: "^packages/(mcp|mcp-runner|cli)/src/" },
      { path: target(["server-kit"]), pathNot: "/server-kit/(src/)?(user-cache|image-type|limits)" },
    ),
    arrow(
      "mcp: what a list of tools needs imports the client by await import() alone",
      {
        path: "^packages/mcp/src/",
        pathNot: "/(servers/failures|errors/tool-failure|http/client-keys)[.]ts$",
      },
      { path: "^packages/client/", dependencyTypesNot: ["dynamic-import", "type-only"] },
    ),
    ...folderArrows(),
    arrow(
      "every package: a path never leaves it",
      { path: "^packages/([^/]+)/src/" },
      { path: "^packages/", pathNot: "^packages/$1/", dependencyTypes: ["local"] },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: ["node_modules", "^packages/[^/]+/dist/"] },
    exclude: { path: "/src/generated/" },
    skipAnalysisNotInRules: true,
    cache: { folder: "node_modules/.cache/dependency-cruiser", strategy: "content" },
  },
};
