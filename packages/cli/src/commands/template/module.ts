import { access } from "node:fs/promises";
import { register } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Template } from "cloud-sandbox";
import { CommandError } from "../../errors/command-error.js";

/**
 * Loads the Template that a module exports by default. The module's "cloud-sandbox" is this command's, so that it need not be
 * installed beside the module, and both mean the same class.
 */
export async function moduleTemplate(path: string): Promise<Template> {
  const file = resolve(path);
  try {
    await access(file);
  } catch {
    throw new CommandError(
      "DEFINITION_UNREADABLE",
      `${path} does not exist.`,
      "Give the path of a module with --file.",
    );
  }
  register(`data:text/javascript,${encodeURIComponent(hook)}`, {
    data: {
      client: new URL(bundledClient, import.meta.url).href,
      typescript: new URL(bundledTypeScript, import.meta.url).href,
    },
  });
  const loaded = await load(pathToFileURL(file).href, path);
  if (loaded.default instanceof Template) return loaded.default;
  throw new CommandError(
    "DEFINITION_INVALID",
    `${path} does not export a Template by default.`,
    'Write a module such as: import { Template } from "cloud-sandbox"; export default Template.from("code-interpreter")',
  );
}

/** The client library as the build puts it beside this module (tsup.config.ts). */
const bundledClient = "./client.js";
/** The same of commands/typescript.ts. */
const bundledTypeScript = "./typescript.js";

const hook = `import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
let data;
export function initialize(given) { data = given; }
export function resolve(name, context, next) {
  return name === "cloud-sandbox" ? { url: data.client, shortCircuit: true } : next(name, context);
}
export async function load(url, context, next) {
  if (!/^file:.*\\.[cm]?ts$/.test(url)) return next(url, context);
  const { javaScriptOf } = await import(data.typescript);
  const path = fileURLToPath(url);
  const source = javaScriptOf(await readFile(path, "utf8"), path);
  return { format: url.endsWith(".cts") ? "commonjs" : "module", source, shortCircuit: true };
}`;

async function load(url: string, path: string): Promise<{ default?: unknown }> {
  try {
    return await import(url);
  } catch (error) {
    throw new CommandError("DEFINITION_FAILED", `${path}: ${(error as Error).message}`);
  }
}
