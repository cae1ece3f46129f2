import * as z from "zod/mini";
import type { ImageArchive } from "./image-archive.js";
import { invalidImage, quoted } from "./image-problems.js";

/** A layer as it is in the archive. */
export interface ImageLayer {
  /** Its name in the archive. */
  readonly name: string;
  /** Digest of the file in the archive; undefined where the archive tells none. */
  readonly digest: string | undefined;
  /** Digest of the tar, once unpacked. */
  readonly unpackedDigest: string;
}

export interface Image {
  /** The name that the archive has for the image, for example `python:3.12-slim`. */
  readonly reference: string | undefined;
  readonly config: ImageConfig;
  /** The lowest layer first. */
  readonly layers: readonly ImageLayer[];
}

const texts = z.nullish(z.array(z.string()));
const configSchema = z.object({
  architecture: z.string(),
  os: z.string(),
  config: z.nullish(
    z.object({
      Env: texts,
      WorkingDir: z.nullish(z.string()),
      User: z.nullish(z.string()),
      Entrypoint: texts,
      Cmd: texts,
    }),
  ),
  rootfs: z.object({ diff_ids: z.array(z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/))) }),
});
export type ImageConfig = z.output<typeof configSchema>;

const savedSchema = z.array(z.object({ Config: z.string(), RepoTags: texts, Layers: z.array(z.string()) }));

const digestSchema = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));
const descriptorSchema = z.object({
  mediaType: z.optional(z.string()),
  digest: digestSchema,
  platform: z.nullish(z.object({ architecture: z.string(), os: z.string() })),
  annotations: z.nullish(z.record(z.string(), z.string())),
});
type Descriptor = z.output<typeof descriptorSchema>;
const indexSchema = z.object({ manifests: z.array(descriptorSchema) });
const manifestSchema = z.object({ config: descriptorSchema, layers: z.array(descriptorSchema) });

/** The name that container images have for the CPU of this machine. */
const ownArchitecture =
  { x64: "amd64", arm64: "arm64", ia32: "386", arm: "arm" }[process.arch as string] ?? process.arch;

/** Finds the image in the archive that is for this machine, and checks what the archive says about it. */
export async function findImage(archive: ImageArchive): Promise<Image> {
  const image = archive.has("index.json")
    ? await imageOfLayout(archive)
    : archive.has("manifest.json")
      ? await savedImage(archive)
      : undefined;
  if (image === undefined)
    throw invalidImage(
      "The file is no image: it has neither manifest.json, as docker save writes it, nor index.json of an OCI layout.",
    );
  const { config, layers } = image;
  if (config.os !== "linux" || config.architecture !== ownArchitecture)
    throw otherPlatform([`${config.os}/${config.architecture}`]);
  const { diff_ids: unpacked } = config.rootfs;
  if (unpacked.length !== layers.length)
    throw invalidImage(
      `The image names ${layers.length} layers, and its configuration ${unpacked.length}: the file is damaged.`,
    );
  return {
    ...image,
    layers: layers.map((layer, index) => ({ ...layer, unpackedDigest: unpacked[index] ?? "" })),
  };
}

type Found = Omit<Image, "layers"> & { readonly layers: readonly Omit<ImageLayer, "unpackedDigest">[] };

async function savedImage(archive: ImageArchive): Promise<Found> {
  const [image, ...others] = parsed(savedSchema, await archive.document("manifest.json"), "manifest.json");
  if (image === undefined) throw invalidImage("The file holds no image.");
  if (others.length > 0) throw severalImages([image, ...others].map(({ RepoTags }) => RepoTags?.[0]));
  const named = /([0-9a-f]{64})(\.json)?$/.exec(image.Config)?.[1];
  const config = await archive.document(image.Config, named && `sha256:${named}`);
  return {
    reference: image.RepoTags?.[0],
    config: parsed(configSchema, config, "the image's configuration"),
    layers: image.Layers.map((name) => ({ name, digest: undefined })),
  };
}

async function imageOfLayout(archive: ImageArchive): Promise<Found> {
  const index = parsed(indexSchema, await archive.document("index.json"), "index.json");
  const images = index.manifests.filter(isImage);
  const names = new Set(images.map(referenceOf));
  const isOneImage = images.length === 1 || images.every(({ platform }) => platform);
  if (images.length > 1 && (names.size > 1 || !isOneImage)) throw severalImages([...names]);
  const manifest = await manifestFor(archive, images, 0);
  const { config, layers } = manifest;
  return {
    reference: [...names][0] ?? (await savedReference(archive)),
    config: parsed(
      configSchema,
      await archive.document(blob(config.digest), config.digest),
      "the image's configuration",
    ),
    layers: layers.map(({ digest }) => ({ name: blob(digest), digest })),
  };
}

/** Newer versions of `docker save` write an OCI layout, and the image's name in `manifest.json` too. */
async function savedReference(archive: ImageArchive): Promise<string | undefined> {
  if (!archive.has("manifest.json")) return undefined;
  const saved = parsed(savedSchema, await archive.document("manifest.json"), "manifest.json");
  return saved[0]?.RepoTags?.[0];
}

const deepestIndex = 4;

/** The manifest for this machine. An index may name further indexes. */
async function manifestFor(
  archive: ImageArchive,
  descriptors: readonly Descriptor[],
  depth: number,
): Promise<z.output<typeof manifestSchema>> {
  const told = descriptors.filter(isImage);
  const usable = told.filter(
    ({ platform }) => !platform || (platform.os === "linux" && platform.architecture === ownArchitecture),
  );
  const chosen = usable.find(({ digest }) => archive.has(blob(digest))) ?? usable[0];
  if (chosen === undefined) {
    if (told.length === 0) throw invalidImage("The file holds no image.");
    throw otherPlatform(told.map(({ platform }) => `${platform?.os}/${platform?.architecture}`));
  }
  const document = await archive.document(blob(chosen.digest), chosen.digest);
  if (typeof document === "object" && document !== null && "manifests" in document) {
    if (depth >= deepestIndex) throw invalidImage("The file's indexes are nested too deeply.");
    const { manifests } = parsed(indexSchema, document, "an index in the file");
    return manifestFor(archive, manifests, depth + 1);
  }
  return parsed(manifestSchema, document, "the image's manifest");
}

/** Whether a descriptor is of an image, not of a signature or of notes on how an image was built. */
const isImage = ({ annotations, platform }: Descriptor): boolean =>
  annotations?.["vnd.docker.reference.type"] === undefined && platform?.os !== "unknown";

function referenceOf({ annotations }: Descriptor): string | undefined {
  const name =
    annotations?.["io.containerd.image.name"] ?? annotations?.["org.opencontainers.image.ref.name"];
  // Some tools write only the tag here, such as "3.12", which names no image.
  return name?.includes(":") ? name.replace(/^docker\.io\/(library\/)?/, "") : undefined;
}

const blob = (digest: string): string => `blobs/${digest.replace(":", "/")}`;

function parsed<Schema extends z.ZodMiniType>(
  schema: Schema,
  document: unknown,
  name: string,
): z.output<Schema> {
  const result = z.safeParse(schema, document);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join(".");
  throw invalidImage(
    `The file is damaged: ${name} is not as it must be${where ? `, at ${quoted(where)}` : ""}.`,
  );
}

const otherPlatform = (offered: readonly string[]) =>
  invalidImage(
    `The image is for ${quoted([...new Set(offered)].join(", "))}, and this machine is linux/${ownArchitecture}.`,
    `Get the image for this machine, for example with "docker pull --platform linux/${ownArchitecture} IMAGE", and save that.`,
  );

const severalImages = (names: readonly (string | undefined)[]) =>
  invalidImage(
    `The file holds ${names.length} images${names.some(Boolean) ? `: ${names.map((name) => quoted(name ?? "unnamed")).join(", ")}` : ""}.`,
    "Save one image to a file.",
  );
