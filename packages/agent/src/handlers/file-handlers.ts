import { fstatSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { Problem, Reply } from "@cloud-sandbox/protocol/server";
import { byteRange } from "../files/byte-range.js";
import { copy, type FileService } from "../files/file-service.js";
import { receiveForm } from "../files/upload-form.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

const uploadMode = 0o644;
const chunkSize = 256 * 1024;
/** Bytes that are cheaper to hold at once than to pass on in pieces. */
const smallFile = 4 * 1024 * 1024;

export function fileHandlers(files: FileService) {
  return {
    readFile: ({ query }) => files.read(query.path),

    async writeFile({ body }) {
      const { path, filled } = await files.write(
        body.path,
        { mode: Number.parseInt(body.mode, 8), overwrite: body.overwrite },
        async (file) => {
          const bytes = body.encoding === "base64" ? decodeBase64(body.content) : Buffer.from(body.content);
          await file.writeFile(bytes);
          return bytes.length;
        },
      );
      return done("written", path, filled);
    },

    listFiles: ({ query }) => files.list(query.path),

    fileExists: ({ query }) => files.exists(query.path),

    statFile: ({ query }) => files.stat(query.path),

    renameFile: async ({ body }) =>
      done("moved", await files.rename(body.path, body.new_path, body.overwrite)),

    removeFile: async ({ query }) => done("removed", await files.remove(query.path)),

    makeDirectory: async ({ body }) => done("created", await files.makeDirectory(body.path)),

    async uploadFile({ request, query }) {
      let spool: string | undefined;
      try {
        const { stored, path } = await receiveForm(request, async ({ name, path, bytes }) => {
          const destination = query.path ?? path;
          if (destination === undefined) spool = files.temporaryPath();
          const target = spool ?? (await files.uploadTarget(destination ?? ".", name));
          const written = await files.write(target, { mode: uploadMode, overwrite: true }, (file) =>
            fill(file, bytes),
          );
          return { name, path: written.path, size: written.filled };
        });
        const { name, size } = stored;
        const place = spool
          ? await files.move(spool, await files.uploadTarget(path ?? "./", name))
          : stored.path;
        return done("uploaded", place, size);
      } finally {
        if (spool !== undefined) await files.discard(spool);
      }
    },

    async downloadFile({ query, header }) {
      const { file, name, size } = await files.openForDownload(query.path);
      try {
        const range = byteRange(header("range"), size);
        const { start, end } = range ?? { start: 0, end: size - 1 };
        const length = end - start + 1;
        const bytes =
          length > smallFile
            ? file.createReadStream({ start, end, highWaterMark: chunkSize })
            : await readAndClose(file, start, length);
        const headers = {
          "content-type": "application/octet-stream",
          // Exactly what is announced, whatever happens to the file meanwhile.
          "content-length": String(length),
          "content-disposition": attachment(name),
          "accept-ranges": "bytes",
        };
        if (!range) return new Reply(bytes, headers);
        return new Reply(bytes, { ...headers, "content-range": `bytes ${start}-${end}/${size}` }, 206);
      } catch (error) {
        await file.close();
        throw error;
      }
    },
  } satisfies AgentHandlers;
}

async function readAndClose(file: FileHandle, start: number, length: number): Promise<Uint8Array> {
  await using closing = file;
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await closing.read(bytes, 0, length, start);
  if (bytesRead === length) return bytes;
  throw new Problem(409, "CONFLICT", "The file was cut short while it was read. Read it again.");
}

const done = (what: string, path: string, size?: number) => ({
  success: true,
  message: `${path} was ${what}.`,
  path,
  ...(size !== undefined && { size }),
  timestamp: now(),
});

async function fill(file: FileHandle, bytes: Readable): Promise<number> {
  await copy(bytes, file);
  return fstatSync(file.fd).size;
}

function decodeBase64(text: string): Buffer {
  const compact = text.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact))
    throw new Problem(400, "INVALID_REQUEST", "content is not base64. Leave encoding out to write text.");
  return Buffer.from(compact, "base64");
}

/** The name twice: in ASCII for those who know no better, and as it is. */
function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeRfc5987(name)}`;
}

const encodeRfc5987 = (text: string) =>
  encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
