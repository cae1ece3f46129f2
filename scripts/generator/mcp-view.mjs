/** Bundles the page that hosts with MCP Apps show for results into one file, with its styles and its program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

export async function viewModule(directory) {
  const { outputFiles } = await build({
    entryPoints: [join(directory, "main.ts")],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    minify: true,
    charset: "ascii",
  });
  const program = outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
  const page = readFileSync(join(directory, "view.html"), "utf8");
  return `export const viewPage = ${JSON.stringify(page.replace("/* main.ts */", () => program))};\n`;
}
