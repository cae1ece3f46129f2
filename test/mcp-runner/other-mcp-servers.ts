import { type LocalControlPlane, startLocalControlPlane } from "cloud-sandbox-local";
import { scratchProject } from "../support/scratch-project.js";
import { type NpmRegistry, startNpmRegistry } from "./npm-registry.js";

/** MCP servers of the Model Context Protocol project, which this project does not maintain. */
const version = "2026.8.31";
export const packages = ["filesystem", "everything", "memory", "sequential-thinking"].map(
  (name) => `@modelcontextprotocol/server-${name}@${version}`,
);

const registryName = "registry.test";

/** A backend with an npm registry on loopback, so that its sandboxes can install these servers without the internet. */
export interface ServersBackend extends AsyncDisposable {
  readonly local: LocalControlPlane;
  readonly registry: NpmRegistry;
  /** The directory on this machine in which the same servers are installed. */
  readonly project: string;
  /** The shell command that installs the servers in a sandbox. */
  readonly installCommand: string;
}

export async function startServersBackend(): Promise<ServersBackend> {
  const project = await scratchProject("mcp-servers", packages);
  const registry = await startNpmRegistry(project);
  const address = `${registryName}:${registry.port}`;
  const local = await startLocalControlPlane({
    pool: 1,
    egress: {
      allowPrivate: [address],
      resolve: async (asked) => (asked === registryName ? ["127.0.0.1"] : []),
    },
  });
  return {
    local,
    registry,
    project,
    installCommand: `npm install --global --no-audit --no-fund --registry http://${address}/ ${packages.join(" ")}`,
    async [Symbol.asyncDispose]() {
      await local.close();
      await registry[Symbol.asyncDispose]();
    },
  };
}
