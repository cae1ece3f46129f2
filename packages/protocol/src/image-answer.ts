/**
 * Which container images the server can stand in for. Nothing is downloaded: an image name such as `python:3.11` is
 * compared with the languages and the operating system that are installed. Builds, profiles and sandboxes all use
 * this rule.
 */

/** The languages and the operating system that are offered in place of an image. */
export interface ImageOffer {
  readonly languages: readonly OfferedLanguage[];
  /** The operating system. Undefined if the server does not report it. */
  readonly system: OfferedSystem | undefined;
}

export interface OfferedLanguage {
  readonly language: string;
  /** Version of the language. Undefined if the server does not report it. */
  readonly version: string | undefined;
}

export interface OfferedSystem {
  /** The `ID` of `/etc/os-release`, such as `debian`. */
  readonly id: string;
  /** The systems it derives from: `ID_LIKE` of `/etc/os-release`. */
  readonly like: readonly string[];
  readonly version: string;
}

/**
 * The offer can stand in for the image, with differences that are listed; or it cannot, for the reason in `refusal`.
 */
export type ImageAnswer =
  | {
      /** The language that the image is for. Undefined for an image of an operating system. */
      readonly language: string | undefined;
      /** Sentences for people. Empty if the offer is exactly what the image's name says. */
      readonly differences: readonly string[];
    }
  | { readonly refusal: string };

/**
 * Compares an image's name with what is offered. An image for a language is accepted if that language is offered in
 * the same major version; an image of an operating system, if the system is of the same family. Another minor
 * version, or another system below a language, is accepted and listed as a difference. Undefined for a name of neither
 * kind.
 */
export function imageAnswer(image: string, { languages, system }: ImageOffer): ImageAnswer | undefined {
  const wanted = parseImage(image);
  if (wanted === undefined) return undefined;
  const known = imageLanguages.find(({ names }) => names.includes(wanted.name));
  if (known === undefined) return matchSystem(image, wanted, system);
  const { title, language } = known;
  const found = languages.find((offered) => offered.language === language);
  if (found === undefined && languages.length > 0) return { refusal: `The server has no ${title}.` };
  const version = found?.version;
  if (version !== undefined && wanted.version !== "" && major(version) !== major(wanted.version))
    return { refusal: `The server has ${title} ${version}.` };
  const differences: string[] = [];
  if (wanted.version !== "" && version === undefined)
    differences.push(
      `${image} asks for ${title} ${wanted.version}; the server does not say which version it has.`,
    );
  else if (version !== undefined && !isVersion(wanted.version, version))
    differences.push(`${image} asks for ${title} ${wanted.version}; the server has ${title} ${version}.`);
  if (wanted.system !== undefined && !isSystem(wanted.system, system))
    differences.push(`${image} asks for ${wanted.system}; the operating system is ${systemInWords(system)}.`);
  return { language, differences };
}

/** The image names that this offer can stand in for without any difference. */
export function imagesOf({ languages, system }: ImageOffer): string[] {
  const ofLanguages = imageLanguages.flatMap(({ language, names, precision }) => {
    const version = languages.find((offered) => offered.language === language)?.version;
    return version === undefined ? [] : [`${names[0]}:${version.split(".").slice(0, precision).join(".")}`];
  });
  return [...ofLanguages, ...(system ? [`${system.id}:${system.version}`] : [])];
}

interface ImageLanguage {
  readonly title: string;
  readonly language: string;
  readonly names: readonly string[];
  /** How many numbers of a version the usual tags have: 2 for `python:3.11`, 1 for `node:22`. */
  readonly precision: number;
}

const imageLanguages: readonly ImageLanguage[] = [
  { title: "Python", language: "python", names: ["python", "microsandbox/python"], precision: 2 },
  {
    title: "Node.js",
    language: "javascript",
    names: ["node", "ubuntu/node", "microsandbox/node"],
    precision: 1,
  },
  { title: "Go", language: "go", names: ["golang"], precision: 2 },
  { title: "Bash", language: "bash", names: ["bash"], precision: 2 },
];

/** Operating system releases by their code names, which image tags contain. */
const releases: Readonly<Record<string, { readonly id: string; readonly version: string }>> = {
  buster: { id: "debian", version: "10" },
  bullseye: { id: "debian", version: "11" },
  bookworm: { id: "debian", version: "12" },
  trixie: { id: "debian", version: "13" },
  focal: { id: "ubuntu", version: "20.04" },
  jammy: { id: "ubuntu", version: "22.04" },
  noble: { id: "ubuntu", version: "24.04" },
};
const systems = ["debian", "ubuntu", "fedora", "alpine", "rockylinux", "almalinux", "centos", "archlinux"];
/** Parts of a tag that say nothing about the image's content. */
const meaningless = new Set(["", "latest", "slim", "edge", "stable"]);

interface ParsedImage {
  readonly name: string;
  readonly version: string;
  readonly system: string | undefined;
}

/** Parses an image's name. Undefined if it has a registry, a digest or a variant that no offer can match. */
function parseImage(image: string): ParsedImage | undefined {
  const [, name, tag = ""] =
    /^(?:docker\.io\/)?(?:library\/)?([a-z0-9]+(?:\/[a-z0-9]+)?)(?::([\w.-]+))?$/.exec(image) ?? [];
  if (name === undefined) return undefined;
  // Tags of Canonical's images end in the Ubuntu version and a risk level: `20-22.04_edge`.
  const ubuntu = /^(.*?)-?(\d\d\.\d\d)_(?:stable|candidate|beta|edge)$/.exec(tag);
  const parts = (ubuntu?.[1] ?? tag).split("-").filter((part) => !meaningless.has(part));
  const version = /^\d+(?:\.\d+){0,2}$/.test(parts[0] ?? "") ? (parts.shift() ?? "") : "";
  const [release, ...others] = parts;
  if (others.length > 0 || (release !== undefined && !isRelease(release))) return undefined;
  return { name, version, system: ubuntu ? `ubuntu ${ubuntu[2]}` : release };
}

const isRelease = (part: string): boolean => Object.hasOwn(releases, part) || /^alpine[\d.]*$/.test(part);

function matchSystem(
  image: string,
  { name, version, system: release }: ParsedImage,
  system: OfferedSystem | undefined,
): ImageAnswer | undefined {
  if (!systems.includes(name) || system === undefined) return undefined;
  const family = [system.id, ...system.like];
  const isFamily = family.includes(name) || (name === "ubuntu" && family.includes("debian"));
  if (!isFamily) return { refusal: `The operating system is ${systemInWords(system)}.` };
  const isWhatItSays =
    name === system.id && isVersion(version, system.version) && (!release || isSystem(release, system));
  const asked = [name, version, release].filter((part) => part).join(" ");
  const differences = isWhatItSays
    ? []
    : [`${image} asks for ${asked}; the operating system is ${systemInWords(system)}.`];
  return { language: undefined, differences };
}

function isSystem(wanted: string, system: OfferedSystem | undefined): boolean {
  const [id, version = ""] = wanted.split(" ");
  const release = releases[wanted] ?? { id, version };
  return system !== undefined && system.id === release.id && isVersion(release.version, system.version);
}

const systemInWords = (system: OfferedSystem | undefined): string =>
  system ? `${system.id} ${system.version}` : "the template's own";

/** Whether a version satisfies the wanted one: `3.11` accepts any 3.11.x, and an empty string accepts any version. */
const isVersion = (wanted: string, actual: string): boolean =>
  wanted === "" || actual === wanted || actual.startsWith(`${wanted}.`);

const major = (version: string): string => version.split(".")[0] ?? "";
