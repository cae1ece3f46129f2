import {
  attachment,
  fileDestination,
  fileDone,
  fileInfo,
  fileMissing,
  isBareUpload,
} from "@cloud-sandbox/server-kit/handlers";
import { Problem, Reply } from "@cloud-sandbox/server-kit/portable";
import { type MemoryFileEntry, type MemoryFiles, workspace } from "../memory/memory-files.js";
import { isWithin, nameOf, resolvePath } from "../memory/posix-path.js";
import type { AgentHandlers } from "./agent-handlers.js";

/** Directories whose files the agent serves. Programs can access all files. */
const roots = [workspace, "/tmp"];

/** The absolute form of a path. Throws a problem if the path is outside the served directories. */
export function servedPath(path: string): string {
  if (path.includes("\0"))
    throw new Problem(400, "INVALID_PATH", "A path cannot contain a null byte.", { details: { path } });
  const absolute = resolvePath(workspace, path);
  if (roots.some((root) => isWithin(absolute, root))) return absolute;
  const message = `${path} is not in ${roots.join(" and ")}, the only places files are served from.`;
  throw new Problem(403, "PATH_NOT_ALLOWED", message, { details: { path } });
}

export function fileHandlers(files: MemoryFiles) {
  const refuseRoot = (path: string, what: string): void => {
    if (!roots.includes(path)) return;
    const message = `${path} itself cannot be ${what}, only the files and directories in it.`;
    throw new Problem(403, "PATH_NOT_ALLOWED", message, { details: { path } });
  };
  const refuseToReplace = (path: string, overwrite: boolean): void => {
    if (!files.exists(path) || (overwrite && !files.stat(path).isDirectory)) return;
    throw new Problem(409, "FILE_ALREADY_EXISTS", `${path} exists already.`, { details: { path } });
  };

  const store = (path: string, bytes: string | Uint8Array, { mode, overwrite }: StoreOptions): void => {
    if (files.exists(path) && !files.stat(path).isDirectory) refuseToReplace(path, overwrite);
    files.write(path, bytes, { mode: mode === undefined ? undefined : Number.parseInt(mode, 8) });
  };

  return {
    readFile({ query }) {
      const path = servedPath(query.path);
      return { path, content: files.readText(path), size: files.stat(path).size };
    },

    writeFile({ body }) {
      const path = servedPath(fileDestination(body.path));
      store(path, body.encoding === "base64" ? decodeBase64(body.content) : body.content, body);
      return fileDone("written", path, files.stat(path).size);
    },

    listFiles({ query }) {
      const path = servedPath(query.path);
      const entries = files.list(path).map(onWire);
      return { path, files: entries, count: entries.length, total: entries.length, truncated: false };
    },

    fileExists({ query }) {
      const path = servedPath(query.path);
      if (!files.exists(path)) return { path, exists: false };
      return { path, exists: true, is_directory: files.stat(path).isDirectory };
    },

    statFile: ({ query }) => onWire(files.stat(servedPath(query.path))),

    makeDirectory({ body }) {
      const path = servedPath(body.path);
      files.makeDirectory(path);
      return fileDone("created", path);
    },

    removeFile({ query }) {
      const path = servedPath(query.path);
      refuseRoot(path, "removed");
      files.remove(path);
      return fileDone("removed", path);
    },

    renameFile({ body }) {
      const [from, to] = [servedPath(body.path), servedPath(body.new_path)];
      for (const path of [from, to]) refuseRoot(path, "moved");
      files.stat(from);
      if (from !== to) refuseToReplace(to, body.overwrite);
      files.rename(from, to);
      return fileDone("moved", to);
    },

    async uploadFile({ request, query }) {
      const { file, name, path: asked } = await sentFile(request.source, query.path);
      const target = servedPath(asked);
      const isInside = asked.endsWith("/") || (files.exists(target) && files.stat(target).isDirectory);
      const path = isInside && name !== undefined ? `${target}/${name}` : target;
      store(path, new Uint8Array(await file.arrayBuffer()), query);
      return fileDone("uploaded", path, file.size);
    },

    downloadFile({ query }) {
      const bytes = files.read(servedPath(query.path));
      return new Reply(bytes, {
        "content-type": "application/octet-stream",
        "content-length": String(bytes.length),
        "content-disposition": attachment(nameOf(servedPath(query.path))),
      });
    },
  } satisfies AgentHandlers;
}

interface StoreOptions {
  /** Permissions in octal. Default: those of the file that is replaced. */
  mode?: string;
  overwrite: boolean;
}

interface SentFile {
  file: Blob;
  /** File name from a form; absent if the file was sent without a form. */
  name?: string;
  path: string;
}

async function sentFile(request: Request, path: string | undefined): Promise<SentFile> {
  if (isBareUpload(request.headers.get("content-type")))
    return { file: await request.blob(), path: fileDestination(path) };
  const form = await request.formData().catch(() => undefined);
  const file = form?.get("file");
  if (!(file instanceof Blob)) throw fileMissing();
  const directory = path ?? form?.get("path");
  const name = ("name" in file && nameOf(String(file.name))) || "upload";
  return { file, name, path: typeof directory === "string" && directory !== "" ? directory : "./" };
}

const onWire = ({ path, size, mode, isDirectory, modifiedAt }: MemoryFileEntry) =>
  fileInfo(path, { size, mode, kind: isDirectory ? "d" : "-", modifiedAt });

function decodeBase64(text: string): Uint8Array {
  const compact = text.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  try {
    return Uint8Array.from(atob(compact), (character) => character.charCodeAt(0));
  } catch {
    throw new Problem(400, "INVALID_REQUEST", "content is not base64.", {
      hint: "Leave encoding out to write text.",
    });
  }
}
