import { Readable } from "node:stream";
import { Problem, Reply } from "@cloud-sandbox/server-kit";
import { attachment, fileDestination, fileDone, isBareUpload } from "@cloud-sandbox/server-kit/handlers";
import parse from "range-parser";
import { type Append, copy, type FileService } from "../files/file-service.js";
import { brokenOff, receiveForm } from "../files/upload-form.js";
import type { AgentHandlers } from "./agent-handlers.js";

/** Files up to this size, in bytes, are read at once: that is cheaper than streaming. */
const smallFile = 4 * 1024 * 1024;

export function fileHandlers(files: FileService) {
  return {
    async readFile({ query }) {
      const text = await files.read(query.path);
      return text instanceof Readable ? new Reply(text, { "content-type": "application/json" }) : text;
    },

    async writeFile({ body }) {
      const bytes = body.encoding === "base64" ? decodeBase64(body.content) : Buffer.from(body.content);
      const { path, size } = await files.write(body.path, writeOptions(body), (append) => append(bytes));
      return fileDone("written", path, size);
    },

    listFiles: ({ query }) => files.list(query.path),

    fileExists: ({ query }) => files.exists(query.path),

    statFile: ({ query }) => files.stat(query.path),

    renameFile: async ({ body }) =>
      fileDone("moved", await files.rename(body.path, body.new_path, body.overwrite)),

    removeFile: async ({ query }) => fileDone("removed", await files.remove(query.path)),

    makeDirectory: async ({ body }) => fileDone("created", await files.makeDirectory(body.path)),

    async uploadFile({ request, query, header }) {
      const options = writeOptions(query);
      if (isBareUpload(header("content-type"))) {
        const take = (append: Append) => copy(request, append, brokenOff);
        const { path, size } = await files.write(fileDestination(query.path), options, take);
        return fileDone("uploaded", path, size);
      }
      let spool: string | undefined;
      try {
        const { stored, path } = await receiveForm(request, async ({ name, path, bytes }) => {
          const destination = query.path ?? path;
          if (destination === undefined) spool = files.temporaryPath();
          const target = spool ?? (await files.uploadTarget(destination ?? ".", name));
          const written = await files.write(target, options, (append) => copy(bytes, append));
          return { name, ...written };
        });
        const { name, size } = stored;
        const temporary = spool
          ? await files.move(spool, await files.uploadTarget(path ?? "./", name), options)
          : stored.path;
        return fileDone("uploaded", temporary, size);
      } finally {
        if (spool !== undefined) await files.discard(spool);
      }
    },

    async downloadFile({ query, header }) {
      using file = await files.open(query.path);
      const { name, size } = file;
      const range = byteRange(header("range"), size);
      const { start, end } = range ?? { start: 0, end: size - 1 };
      const length = end - start + 1;
      const headers = {
        "content-type": "application/octet-stream",
        // The size when the file was opened. If the file gets shorter meanwhile, the answer fails rather than be cut
        // off unnoticed.
        "content-length": String(length),
        "content-disposition": attachment(name),
        "accept-ranges": "bytes",
      };
      const bytes =
        length > smallFile ? file.stream(start, end) : notTruncated(file.read(start, length), length);
      if (!range) return new Reply(bytes, headers);
      return new Reply(bytes, { ...headers, "content-range": `bytes ${start}-${end}/${size}` }, 206);
    },
  } satisfies AgentHandlers;
}

const writeOptions = ({ mode, overwrite }: { mode?: string; overwrite: boolean }) => ({
  mode: mode === undefined ? undefined : Number.parseInt(mode, 8),
  overwrite,
});

function notTruncated(bytes: Buffer, length: number): Buffer {
  if (bytes.length === length) return bytes;
  throw new Problem(409, "CONFLICT", "The file was cut short while it was read.", {
    hint: "Read the file again.",
  });
}

function decodeBase64(text: string): Buffer {
  const compact = text.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact))
    throw new Problem(400, "INVALID_REQUEST", "content is not base64.", {
      hint: "Leave encoding out to write text.",
    });
  return Buffer.from(compact, "base64");
}

/** Positions of the first and the last byte, both included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header. Undefined means the whole file: there is no header, it is malformed, or it asks for
 * several ranges, which HTTP allows a server to ignore. Throws a 416 problem if the range is outside the file.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return undefined;
  const ranges = parse(size, header);
  if (ranges === -1)
    throw new Problem(416, "INVALID_REQUEST", `The file has ${size} bytes: ask for a range within them.`, {
      headers: { "content-range": `bytes */${size}` },
    });
  if (ranges === -2 || ranges.type !== "bytes" || ranges.length !== 1) return undefined;
  return ranges[0];
}
