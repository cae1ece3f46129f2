import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { adds, looks, replaces } from "../annotations.js";
import { absolutePath, fileContent, maxResults, sandboxReference } from "../input-fields.js";
import { cutMiddle, firstEntries, resultBudget } from "../output-limit.js";
import { sandboxTool } from "../tool.js";

const onePath = z.object({ ...sandboxReference, path: absolutePath });

export const fileRead = sandboxTool({
  name: "file_read",
  title: "Read a file",
  description: "Reads a text file. The middle of a long one is left out; run_command with sed reads parts.",
  toolset: "files",
  annotations: looks,
  input: onePath,
  output: z.looseObject({
    path: z.string(),
    content: z.string(),
    size: z.number().describe("Bytes of the whole file"),
    truncated: z.boolean().describe("The middle of content is left out"),
    note: z.string().optional().describe("What to do when the file is not text"),
  }),
  handler: async ({ sandbox, path, signal }) => {
    const content = await sandbox.files.readText(path, { signal });
    const { text, totalBytes, omittedBytes } = cutMiddle(content, resultBudget);
    const truncated = omittedBytes > 0;
    if (!/[\0\ufffd]/.test(content)) return { path, content: text, size: totalBytes, truncated };
    // The text alone cannot tell: replacement characters may be the file's own.
    const bytes = await sandbox.files.readBytes(path, { signal });
    const isText = isUtf8(bytes) && !bytes.includes(0);
    return { path, content: text, size: bytes.length, truncated, note: isText ? undefined : notText };
  },
});

const notText =
  "The file is not UTF-8 text, so content is not exactly what it holds: use run_command with base64 or xxd.";

export const fileWrite = sandboxTool({
  name: "file_write",
  title: "Write a file",
  description: "Writes a text file, replacing what is there; directories are made.",
  toolset: "files",
  annotations: replaces,
  input: onePath.extend({ content: fileContent }),
  output: z.looseObject({ path: z.string(), size: z.number().describe("Bytes") }),
  handler: async ({ sandbox, path, content, signal }) => {
    const written = await sandbox.files.write(path, content, { signal });
    return { path: written.path, size: written.size };
  },
});

export const fileList = sandboxTool({
  name: "file_list",
  title: "List a directory",
  description: "Lists the entries of a directory.",
  toolset: "files",
  annotations: looks,
  input: z.object({
    ...sandboxReference,
    path: absolutePath.default("/workspace"),
    max_results: maxResults(1000, 10_000),
  }),
  output: z.looseObject({
    path: z.string(),
    files: z.array(z.looseObject({ name: z.string(), size: z.number(), is_directory: z.boolean() })),
    count: z.number(),
    total_files: z.number(),
    truncated: z.boolean(),
  }),
  handler: async ({ sandbox, path, max_results, signal }) => {
    const listing = await sandbox.files.list(path, { signal });
    const entries = listing.entries.map(({ name, size, isDirectory, modifiedAt }) => ({
      name,
      size,
      is_directory: isDirectory,
      modified_time: modifiedAt?.toISOString(),
    }));
    const { items, truncated } = firstEntries(entries, max_results);
    return {
      path: listing.path,
      files: items,
      count: items.length,
      total_files: listing.total,
      truncated: truncated || listing.truncated,
    };
  },
});

export const fileExists = sandboxTool({
  name: "file_exists",
  title: "Check whether a file exists",
  description: "Says whether a file or directory exists.",
  toolset: "files",
  annotations: looks,
  input: onePath,
  output: z.looseObject({ path: z.string(), exists: z.boolean() }),
  handler: async ({ sandbox, path, signal }) => ({
    path,
    exists: await sandbox.files.exists(path, { signal }),
  }),
});

export const fileRemove = sandboxTool({
  name: "file_remove",
  title: "Remove a file",
  description: "Removes a file, or a directory with everything in it.",
  toolset: "files",
  annotations: replaces,
  input: onePath,
  output: z.looseObject({ path: z.string(), status: z.string() }),
  handler: async ({ sandbox, path, signal }) => {
    await sandbox.files.remove(path, { signal });
    return { path, status: "removed" };
  },
});

export const fileMkdir = sandboxTool({
  name: "file_mkdir",
  title: "Make a directory",
  description: "Makes a directory and its parents.",
  toolset: "files",
  annotations: { ...adds, idempotentHint: true },
  input: onePath,
  output: z.looseObject({ path: z.string(), status: z.string().describe("created, or exists") }),
  handler: async ({ sandbox, path, signal }) => {
    const wasThere = await sandbox.files.exists(path, { signal });
    await sandbox.files.mkdir(path, { signal });
    return { path, status: wasThere ? "exists" : "created" };
  },
});
