import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Header, Pax } from "tar";

export interface Entry {
  readonly path: string;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "CharacterDevice" | "FIFO" | "SparseFile";
  readonly text?: string | Buffer;
  readonly link?: string;
  readonly mode?: number;
}

/** A tar with these entries, as they are: names that no tool would write are kept. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const blocks = entries.map(({ path, type = "File", text = "", link, mode = 0o644 }) => {
    const content = Buffer.from(text);
    const header = new Header({
      ...{ path, type, mode, size: content.length, uid: 0, gid: 0, mtime: new Date(1e12) },
      ...(link !== undefined && { linkpath: link }),
    });
    const extended = header.encode() ? new Pax({ path }).encode() : Buffer.alloc(0);
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return Buffer.concat([extended, header.block ?? Buffer.alloc(0), content, padding]);
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** The name that images have for this machine's CPU. */
export const ownArchitecture = process.arch === "x64" ? "amd64" : process.arch;

export interface ImageParts {
  readonly layers: readonly Buffer[];
  readonly reference?: string;
  readonly architecture?: string;
  readonly config?: object;
  /** In place of the digests of the layers. */
  readonly unpackedDigests?: readonly string[];
}

const configOf = ({
  layers,
  architecture = ownArchitecture,
  config = {},
  unpackedDigests,
}: ImageParts): string =>
  JSON.stringify({
    architecture,
    os: "linux",
    config,
    rootfs: { type: "layers", diff_ids: unpackedDigests ?? layers.map(digestOf) },
  });

/** An archive as `docker save` wrote it for ten years. */
export function savedImage(parts: ImageParts): Buffer {
  const config = configOf(parts);
  const name = `${digestOf(config).slice(7)}.json`;
  const layers = parts.layers.map((content, index) => ({ path: `${index}/layer.tar`, text: content }));
  const { reference = "made:1" } = parts;
  const manifest = [{ Config: name, RepoTags: [reference], Layers: layers.map(({ path }) => path) }];
  return tarOf([
    ...layers,
    { path: name, text: config },
    { path: "manifest.json", text: JSON.stringify(manifest) },
  ]);
}

/** An archive of an OCI image layout, with gzipped layers and an index of several platforms. */
export function imageLayout(parts: ImageParts, ...others: readonly ImageParts[]): Buffer {
  const blobs = new Map<string, Buffer>();
  const put = (content: Buffer): string => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return digest;
  };
  const document = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const manifests = [parts, ...others].map((image) => {
    const manifest = {
      schemaVersion: 2,
      config: { digest: put(Buffer.from(configOf(image))) },
      layers: image.layers.map((layer) => ({ digest: put(gzipSync(layer)) })),
    };
    const platform = { os: "linux", architecture: image.architecture ?? ownArchitecture };
    return { digest: put(document(manifest)), platform };
  });
  const index = put(document({ schemaVersion: 2, manifests }));
  const annotations = { "io.containerd.image.name": `docker.io/library/${parts.reference ?? "made:1"}` };
  return tarOf([
    { path: "index.json", text: document({ manifests: [{ digest: index, annotations }] }) },
    ...[...blobs].map(([digest, text]) => ({ path: `blobs/${digest.replace(":", "/")}`, text })),
    { path: "oci-layout", text: '{"imageLayoutVersion":"1.0.0"}' },
  ]);
}
