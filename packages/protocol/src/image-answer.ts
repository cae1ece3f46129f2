/** What stands in for a container image, from which nothing is downloaded: the one rule for builds, profiles and sandboxes. */

/** What there is in place of an image. */
export interface ImageOffer {
  readonly languages: readonly OfferedLanguage[];
  /** Undefined where it is not told. */
  readonly system: OfferedSystem | undefined;
}

export interface OfferedLanguage {
  readonly language: string;
  /** Undefined where it is not told. */
  readonly version: string | undefined;
}

export interface OfferedSystem {
  /** As `/etc/os-release` has it: `debian`. */
  readonly id: string;
  /** Systems that it is made from. */
  readonly like: readonly string[];
  readonly version: string;
}

/** What there is does for the image, but for the differences; or it does not, and why. */
export type ImageAnswer =
  | {
      /** The one that the image is for; undefined for an operating system. */
      readonly language: string | undefined;
      /** Sentences for people. Empty where it is what the image's name says. */
      readonly differences: readonly string[];
    }
  | { readonly refusal: string };

/**
 * An image does for what there is when its language is there in the major version that it names, or when its operating
 * system is of the same family. Another minor version and another system below a language are told, not refused.
 * Undefined for a name that this rule does not know.
 */
export function imageAnswer(image: string, { languages, system }: ImageOffer): ImageAnswer | undefined {
  const wanted = parseImage(image);
  if (wanted === undefined) return undefined;
  const known = imageLanguages.find(({ names }) => names.includes(wanted.name));
  if (known === undefined) return matchSystem(image, wanted, system);
  const { title, language } = known;
  const found = languages.find((offered) => offered.language === language);
  if (found === undefined && languages.length > 0) return { refusal: `There is no ${title}.` };
  const version = found?.version;
  if (version !== undefined && wanted.version !== "" && major(version) !== major(wanted.version))
    return { refusal: `Its ${title} is ${version}.` };
  const differences: string[] = [];
  if (wanted.version !== "" && version === undefined)
    differences.push(
      `${image} asks for ${title} ${wanted.version}; the server does not say which version it has.`,
    );
  else if (version !== undefined && !isVersion(wanted.version, version))
    differences.push(`${image} asks for ${title} ${wanted.version}; it is ${title} ${version}.`);
  if (wanted.system !== undefined && !isSystem(wanted.system, system))
    differences.push(`${image} asks for ${wanted.system}; the operating system is ${systemInWords(system)}.`);
  return { language, differences };
}

/** Names of images that do for it without a difference. */
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
  /** Numbers of a version that the tags people use have. */
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

/** Operating systems by the names that tags and images give them. */
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
/** Parts of a tag that promise nothing about what is inside. */
const meaningless = new Set(["", "latest", "slim", "edge", "stable"]);

interface ParsedImage {
  readonly name: string;
  readonly version: string;
  readonly system: string | undefined;
}

/** Undefined for what names a registry, a digest or a variant that nothing here can be. */
function parseImage(image: string): ParsedImage | undefined {
  const [, name, tag = ""] =
    /^(?:docker\.io\/)?(?:library\/)?([a-z0-9]+(?:\/[a-z0-9]+)?)(?::([\w.-]+))?$/.exec(image) ?? [];
  if (name === undefined) return undefined;
  // Canonical's tags end in the version of Ubuntu and a risk: `20-22.04_edge`.
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

/** `3.11` asks for any 3.11.x; nothing asks for any. */
const isVersion = (wanted: string, actual: string): boolean =>
  wanted === "" || actual === wanted || actual.startsWith(`${wanted}.`);

const major = (version: string): string => version.split(".")[0] ?? "";
