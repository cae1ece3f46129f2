import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

export const licencesFile = "THIRD-PARTY-LICENSES.txt";

interface CarriedLicences {
  /** The licence files of other bundles that are shipped with this one. */
  readonly carried?: readonly string[];
}

/**
 * A plugin for esbuild. It writes the licences of all bundled packages to a file beside the bundle, because those
 * licences ask for it.
 */
export function thirdPartyLicences({ carried }: CarriedLicences = {}): Plugin {
  return {
    name: "third-party-licences",
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        if (!metafile) return;
        const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
          Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
        );
        const { outdir = "dist" } = build.initialOptions;
        mkdirSync(outdir, { recursive: true });
        writeFileSync(join(outdir, licencesFile), noticesOf(bundled, carried));
      });
    },
  };
}

function noticesOf(bundled: readonly string[], carried: readonly string[] = []): string {
  const packages = new Set(bundled.map(packageOf).filter((home) => home !== undefined));
  const notices = [...packages].map(noticeOf);
  for (const file of carried) notices.push(...readFileSync(file, "utf8").split(ruler));
  return [...new Set(notices)].sort().join(ruler);
}

const ruler = `\n${"-".repeat(80)}\n\n`;

/**
 * The directory of the package that a bundled file belongs to. Undefined for this project's files. Plugins may put a prefix
 * before the path.
 */
function packageOf(path: string): string | undefined {
  return /(?<=^[a-z-]+:|^)[^:]*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
}

function noticeOf(home: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const file = readdirSync(home).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (file === undefined && !license)
    throw new Error(`${name} is bundled and says nothing about its licence.`);
  const text = file ? readFileSync(join(home, file), "utf8").trim() : license;
  return `${name} ${version}\n\n${text}\n`;
}
