import { access } from "node:fs/promises";
import { join } from "node:path";
import { otherNode, scratchProject } from "../scratch-project.js";

/** A JavaScript runtime, with the command that runs a program on it. */
export interface Runtime {
  readonly name: string;
  command(): Promise<readonly string[]>;
}

const bunArchitecture = process.arch === "arm64" ? "aarch64" : process.arch;

/** The runtimes that the client supports. */
export const runtimes: readonly Runtime[] = [
  { name: "the Node.js of these tests", command: async () => [process.execPath] },
  ...["20.19.0", "22.23.3", "24.21.0", "26.10.0"].map((version) => ({
    name: `Node.js ${version}`,
    command: async () => [await otherNode(version)],
  })),
  {
    name: "Bun",
    command: async () => [await binary(`@oven/bun-linux-${bunArchitecture}`, "1.4.5", "bin/bun"), "run"],
  },
  {
    name: "Deno",
    command: async () => [
      await binary(`@deno/linux-${process.arch}-glibc`, "2.9.6", "deno"),
      ...["run", "--allow-all", "--no-config", "--no-lock", "--node-modules-dir=manual"],
    ],
  },
];

/** The path of a program that an npm package contains. */
async function binary(packageName: string, version: string, path: string): Promise<string> {
  const directory = await scratchProject(packageName.replace("/", "-"), [`${packageName}@${version}`]);
  const program = join(directory, "node_modules", packageName, path);
  await access(program);
  return program;
}
