import { posix } from "node:path";
import { imageTypes, usableImage } from "@cloud-sandbox/server-kit/image-type";
import * as z from "zod";
import { InvalidArgumentsError } from "../errors/errors.js";
import { Answer } from "../results/answer.js";
import { cutMiddle, entryLimit, firstEntries, resultBudget } from "../results/output-limit.js";
import {
  absolutePath,
  fileContent,
  fileSource,
  maxResults,
  sandboxReference,
} from "./definition/input-fields.js";
import {
  additive,
  destructive,
  readOnly,
  readOnlyInside,
  sandboxTool,
  type Tool,
} from "./definition/tool.js";
import {
  bytesWithin,
  contentOf,
  directory,
  fileUri,
  isText,
  largestResource,
  typeOf,
  typeOfName,
} from "./file-link.js";

const onePath = z.object({ ...sandboxReference, path: absolutePath });

const fileRead = sandboxTool({
  name: "file_read",
  title: "Read a file",
  description: "Reads a text file. The middle of a long one is left out; run_command with sed reads parts.",
  toolset: "files",
  annotations: readOnlyInside,
  input: onePath,
  output: z.looseObject({
    path: z.string(),
    content: z.string(),
    size: z.number(),
    truncated: z.boolean(),
    note: z.string().optional(),
  }),
  handler: async ({ sandbox, path, signal }) => {
    const content = await sandbox.files.readText(path, { signal });
    const { text, totalBytes, omittedBytes } = cutMiddle(content, resultBudget);
    const truncated = omittedBytes > 0;
    if (!/[\0\ufffd]/.test(content)) return { path, content: text, size: totalBytes, truncated };
    // A replacement character does not mean that the file is binary, since the file itself may have it: look at the bytes.
    const bytes = await sandbox.files.readBytes(path, { maxBytes: largestText, signal });
    return { path, content: text, size: bytes.length, truncated, note: isText(bytes) ? undefined : notText };
  },
});

/** Bytes of the largest file that is read as text. */
const largestText = 64 * 1024 * 1024;

const notText =
  "The file is not UTF-8 text, so content is not exactly what it holds: use file_download for the bytes, or run_command with xxd.";

const fileWrite = sandboxTool({
  name: "file_write",
  title: "Write a file",
  description: "Writes a text file, replacing what is there; parent directories are created.",
  toolset: "files",
  annotations: destructive,
  input: onePath.extend({ content: fileContent }),
  output: z.looseObject({ path: z.string(), size: z.number() }),
  handler: async ({ sandbox, path, content, signal }) => {
    const written = await sandbox.files.write(path, content, { signal });
    return { path: written.path, size: written.size };
  },
});

const mostListed = 10_000;

const fileList = sandboxTool({
  name: "file_list",
  title: "List a directory",
  description: "Lists the entries of a directory.",
  toolset: "files",
  annotations: readOnlyInside,
  input: z.object({
    ...sandboxReference,
    path: absolutePath.default("/workspace"),
    max_results: maxResults(1000, mostListed),
  }),
  output: z.looseObject({
    path: z.string(),
    files: z.array(
      z.looseObject({
        name: z.string(),
        path: z.string(),
        size: z.number(),
        is_directory: z.boolean(),
        permissions: z.string().optional(),
      }),
    ),
    count: z.number(),
    total_files: z.number(),
    truncated: z.boolean(),
    note: z.string().optional(),
  }),
  handler: async ({ sandbox, path, max_results, signal }) => {
    const { limit, note } = entryLimit(max_results, mostListed);
    const listing = await sandbox.files.list(path, { signal });
    const entries = listing.entries.map(({ name, path, size, isDirectory, modifiedAt, permissions }) => ({
      name,
      path,
      size,
      is_directory: isDirectory,
      permissions,
      modified_time: modifiedAt?.toISOString(),
    }));
    const { items, truncated } = firstEntries(entries, limit);
    return {
      path: listing.path,
      files: items,
      count: items.length,
      total_files: listing.total,
      truncated: truncated || listing.truncated,
      note,
    };
  },
});

const fileExists = sandboxTool({
  name: "file_exists",
  title: "Check whether a file exists",
  description: "Says whether a file or directory exists.",
  toolset: "files",
  annotations: readOnly,
  input: onePath,
  output: z.looseObject({ path: z.string(), exists: z.boolean() }),
  handler: async ({ sandbox, path, signal }) => ({
    path,
    exists: await sandbox.files.exists(path, { signal }),
  }),
});

const fileRemove = sandboxTool({
  name: "file_remove",
  title: "Remove a file",
  description: "Removes a file, or a directory with everything in it.",
  toolset: "files",
  annotations: destructive,
  input: onePath,
  output: z.looseObject({ path: z.string(), status: z.string() }),
  handler: async ({ sandbox, path, signal }) => {
    await sandbox.files.remove(path, { signal });
    return { path, status: "removed" };
  },
});

const fileMkdir = sandboxTool({
  name: "file_mkdir",
  title: "Make a directory",
  description: "Makes a directory and its parents.",
  toolset: "files",
  annotations: { ...additive, idempotentHint: true },
  input: onePath,
  output: z.looseObject({ path: z.string(), status: z.string() }),
  handler: async ({ sandbox, path, signal }) => {
    const wasThere = await sandbox.files.exists(path, { signal });
    await sandbox.files.mkdir(path, { signal });
    return { path, status: wasThere ? "exists" : "created" };
  },
});

/** Bytes of the largest image that is returned as an image. */
const largestImage = 3 * 1024 * 1024;

const fileDownload = sandboxTool({
  name: "file_download",
  title: "Link to a file",
  description:
    "Returns a link to a file of any type; the client can read the file's bytes as a resource. Images are shown too.",
  toolset: "files",
  annotations: readOnlyInside,
  input: onePath,
  output: z.looseObject({
    uri: z.string(),
    path: z.string(),
    size: z.number().optional(),
    mime_type: z.string(),
    note: z.string().optional(),
  }),
  handler: async ({ sandbox, path: wanted, signal }) => {
    const { path, isDirectory, isSymlink, ...entry } = await sandbox.files.stat(wanted, { signal });
    if (isDirectory) throw new InvalidArgumentsError(directory(path));
    const [uri, named] = [fileUri(sandbox.id, path), typeOfName(path)];
    const isImage = imageTypes.some((each) => each === named);
    // The size in a list is that of a link, not of the file that it leads to, so links are read.
    const isRead = isSymlink || (isImage && entry.size <= largestImage);
    const bytes = isRead ? await bytesWithin(sandbox, path, largestResource, signal) : undefined;
    const size = isRead ? bytes?.length : entry.size;
    const mimeType = bytes === undefined ? named : typeOf(path, bytes);
    const link = { type: "resource_link" as const, uri, name: posix.basename(path), mimeType, size };
    const isShown = imageTypes.some((each) => each === mimeType);
    const image = isShown &&
      bytes !== undefined &&
      bytes.length <= largestImage && {
        type: "image" as const,
        data: Buffer.from(bytes).toString("base64"),
        mimeType,
      };
    const isTooLarge = size === undefined || size > largestResource;
    const note = isTooLarge ? tooLargeToRead : isImage && !isShown ? noImage : undefined;
    const structure = { uri, path, size, mime_type: mimeType, note };
    return new Answer(structure, { attachments: image ? [link, image] : [link] });
  },
});

const noImage = `Not shown: despite its name, the file is not ${usableImage}.`;
const tooLargeToRead =
  "A resource holds at most 4 MiB: split the file with run_command, or serve it with run_command_background and get_preview_url.";

const fileUpload = sandboxTool({
  name: "file_upload",
  title: "Write a file from a URI",
  description:
    "Writes a file of any type from a URI, replacing what is there: a data: URI, or a file of another sandbox.",
  toolset: "files",
  annotations: destructive,
  input: onePath.extend({ uri: fileSource }),
  output: z.looseObject({ path: z.string(), size: z.number() }),
  handler: async ({ sandbox, path, uri, ...call }) => {
    const content = await contentOf(uri, call);
    const written = await sandbox.files.write(path, content, { signal: call.signal });
    return { path: written.path, size: written.size };
  },
});

export const fileTools: readonly Tool[] = [
  fileRead,
  fileWrite,
  fileList,
  fileExists,
  fileRemove,
  fileMkdir,
  fileDownload,
  fileUpload,
];
