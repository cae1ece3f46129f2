import { execFile } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { baseFiles } from "../support/docker/base-image.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const lib = "usr/local/lib";

/** The programs of the clients in the image, as a Pod's command runs them. */
export const clientPrograms = {
  mcp: ["node", `/${lib}/cloud-sandbox-mcp/dist/main.js`],
  vendorSdk: ["node", `/${lib}/vendor-sdk.cjs`],
} as const;

/** An image with this machine's Node.js, the built server, and clients of it: the built MCP server and the vendor's SDK. */
export async function insideImage(reference: string): Promise<Buffer> {
  const base = await buffer(await baseFiles());
  const program = `#!/bin/sh\nexec node /${lib}/cloud-sandbox-local/dist/main.js "$@"\n`;
  return savedImage({
    layers: [
      base,
      await placed("usr/local/bin", process.execPath),
      await placed(`${lib}/cloud-sandbox-local`, join(root, "packages/local/dist")),
      await placed(`${lib}/cloud-sandbox-mcp`, join(root, "packages/mcp/dist")),
      tarOf([
        { path: "usr/local/bin/cloud-sandbox-local", text: program, mode: 0o755 },
        { path: `${lib}/cloud-sandbox-mcp/package.json`, text: '{ "type": "module" }' },
        { path: `${lib}/vendor-sdk.cjs`, text: await vendorSdkProgram() },
      ]),
    ],
    reference,
    config: {},
  });
}

/** A tar with one file or directory of this machine, in a directory of the image. */
async function placed(directory: string, path: string): Promise<Buffer> {
  const place = ["--transform", `s,^,${directory}/,`, "--directory", dirname(path), basename(path)];
  const options = { encoding: "buffer", maxBuffer: 1024 ** 3 } as const;
  return (await promisify(execFile)("tar", ["--create", ...place], options)).stdout;
}

/** A program of one file, with the SDK in it, that uses the server that its arguments name and prints what came of it. */
async function vendorSdkProgram(): Promise<string> {
  const contents = `
    import { useVendorSdk } from "../interop/vendor-sdk-walk.js";
    const [baseURL, apiKey] = process.argv.slice(2);
    useVendorSdk({ baseURL, apiKey }).then((seen) => console.log(JSON.stringify(seen)));`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ bundle: true, platform: "node", format: "cjs", target: "node20", write: false, logLevel: "error" },
  });
  return outputFiles[0]?.text ?? "";
}
