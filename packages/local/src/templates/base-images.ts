import { readFile } from "node:fs/promises";
import { invalidBuild } from "@cloud-sandbox/protocol/handlers";
import type { HostLanguage } from "../control-plane/host-languages.js";

/**
 * Whether this machine is what an image of that name would hold. Nothing is downloaded: sandboxes see the machine's own
 * `/usr`, so an image can be honoured exactly when what it promises is installed here, in that version.
 *
 * @throws a 400 problem that lists what can be built from.
 */
export async function honourImage(
  image: string,
  languages: readonly HostLanguage[],
  templates: readonly string[],
): Promise<void> {
  const system = await hostSystem();
  const offers = [
    ...templates,
    ...languages.flatMap(({ language, version }) => {
      const name = imageOf[language];
      return name === undefined
        ? []
        : [
            `${name}:${version
              .split(".")
              .slice(0, language === "javascript" ? 1 : 2)
              .join(".")}`,
          ];
    }),
    ...(system ? [`${system.id}:${system.version}`] : []),
  ];
  const [, name = "", tag = ""] =
    /^(?:docker\.io\/)?(?:library\/)?([a-z0-9]+)(?::([\w.-]+))?$/.exec(image) ?? [];
  const language = languages.find((candidate) => imageOf[candidate.language] === name);
  const [version = "", ...variants] = tag.split("-");
  const matches = language
    ? isVersion(version, language.version) &&
      variants.every((variant) => variant === "slim" || variant === system?.codename)
    : name === system?.id &&
      (isVersion(version, system.version) || version === system.codename) &&
      variants.every((variant) => variant === "slim");
  if (matches) return;
  const shown = JSON.stringify(
    image.length > 80 ? `${image.slice(0, 80)}…` : image.replace(/[^\x20-\x7e]/g, "?"),
  );
  throw invalidBuild(
    `from_image ${shown} is not what this machine has, and no other is put in its place. Build from one of ${offers.join(", ")}.`,
  );
}

const imageOf: Readonly<Record<HostLanguage["language"], string | undefined>> = {
  python: "python",
  javascript: "node",
  go: "golang",
  bash: undefined,
};

/** `3.11` asks for any 3.11.x; nothing asks for any. */
function isVersion(wanted: string, actual: string): boolean {
  return wanted === "" || actual === wanted || actual.startsWith(`${wanted}.`);
}

async function hostSystem(): Promise<{ id: string; version: string; codename: string } | undefined> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const field = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)`, "m").exec(release)?.[1] ?? "";
  return field("ID") === ""
    ? undefined
    : { id: field("ID"), version: field("VERSION_ID"), codename: field("VERSION_CODENAME") };
}
