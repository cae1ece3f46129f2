import { createHash } from "node:crypto";
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { type ImageArchive, through } from "./image-archive.js";
import type { ImageLayer } from "./image-manifest.js";
import { type Allowance, invalidImage } from "./image-problems.js";
import type { ImageRoot } from "./image-root.js";
import { compressionOf, readTar } from "./read-tar.js";

/** Applies the layers in order, and checks each one's digests. Resolves with how many devices and pipes were left out. */
export async function applyLayers(
  archive: ImageArchive,
  layers: readonly ImageLayer[],
  root: ImageRoot,
  allowance: Allowance,
  signal: AbortSignal,
): Promise<number> {
  let leftOut = 0;
  for (const [index, layer] of layers.entries()) {
    const name = `Layer ${index + 1} of ${layers.length}`;
    root.beginLayer(name);
    const hash = createHash("sha256");
    const content = counted(await opened(archive, layer, name), hash, allowance, signal);
    await readTar(content, name, (entry) => {
      allowance.takeEntry();
      const { sink, isLeftOut } = root.add(entry);
      if (isLeftOut) leftOut += 1;
      return sink;
    });
    const digest = `sha256:${hash.digest("hex")}`;
    if (digest !== layer.unpackedDigest)
      throw invalidImage(
        `${name} is not what the image says: unpacked, its digest is ${digest}, not ${layer.unpackedDigest}.`,
        "Make the file again: this one is damaged.",
      );
  }
  return leftOut;
}

/** The layer's tar. */
async function opened(
  archive: ImageArchive,
  layer: ImageLayer,
  name: string,
): Promise<AsyncIterable<Buffer>> {
  const start = await archive.start(layer.name, layer.digest);
  const compression = compressionOf(start);
  const file = archive.open(layer.name);
  if (compression === undefined) return file;
  if (compression === "gzip") return through(file, zlib.createGunzip());
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress) return through(file, createZstdDecompress());
  file.destroy();
  throw invalidImage(
    `${name} is compressed with zstd, which this server's Node.js ${process.version} does not read.`,
    "Start the server with Node.js 22.15 or newer, or save the image with gzip: skopeo copy --dest-compress-format gzip.",
  );
}

async function* counted(
  content: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
  allowance: Allowance,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    signal.throwIfAborted();
    allowance.takeBytes(chunk.length);
    hash.update(chunk);
    yield chunk;
  }
}
