/** `sandbox://{id}/files{/path*}`: directories as lists, files as text or bytes. */
import {
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
  UriTemplate,
  type Variables,
} from "@modelcontextprotocol/server";
import type { FileEntry, Sandbox } from "cloud-sandbox";
import { InvalidArgumentsError } from "../errors/errors.js";
import { untrusted } from "../results/answer.js";
import { firstEntries } from "../results/output-limit.js";
import type { Registration } from "../session/profile.js";
import { bytesWithin, isText, largestResource, typeOf } from "../tools/file-link.js";
import { completing, decoded, jsonContents, reader } from "./reading.js";
import { sandboxIds } from "./sandboxes.js";

const mostEntries = 1000;

export const sandboxFiles: Registration = (server, session, profile) => {
  const read = reader(session, profile);
  const complete = {
    id: (typed: string) => sandboxIds(session, typed),
    path: (typed: string, context?: { arguments?: Record<string, string> }) =>
      completing(session, async ({ sandboxes }) => {
        const signal = AbortSignal.timeout(5_000);
        const sandbox = await sandboxes.find({ sandbox_id: context?.arguments?.id }, signal);
        return pathsBeginning(sandbox, typed, signal);
      }),
  };
  server.registerResource(
    "sandbox-file",
    new ResourceTemplate(new FileUriTemplate("sandbox://{id}/files{/path*}"), { list: undefined, complete }),
    {
      title: "File in a sandbox",
      description:
        "A file below /workspace or /tmp as text or bytes (up to 4 MiB), or the list of a directory.",
    },
    (uri, variables, { mcpReq: { signal } }) =>
      read(uri.href, async ({ sandboxes }) => {
        const [id, ...segments] = [variables.id, ...(variables.path ?? [])].map((part) =>
          decoded(uri.href, part),
        );
        const sandbox = await sandboxes.find({ sandbox_id: id }, signal);
        return contentsAt(sandbox, `/${segments.join("/")}`, uri.href, signal);
      }),
  );
};

/** Matches paths itself: the SDK's URI templates match only one segment. */
class FileUriTemplate extends UriTemplate {
  override match(uri: string): Variables | null {
    const [, id, path] = /^sandbox:\/\/([^/?#]+)\/files((?:\/[^/?#]+)*)\/?$/.exec(uri) ?? [];
    return id === undefined ? null : { id, path: (path ?? "").split("/").slice(1) };
  }
}

async function contentsAt(
  sandbox: Sandbox,
  path: string,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  if (path === "/") return directory(uri, "/", [root("workspace"), root("tmp")], 2);
  const entry = await entryAt(sandbox, path, uri, signal);
  if (entry.isDirectory) {
    const { entries, total } = await sandbox.files.list(path, { signal });
    return directory(uri, path, entries, total);
  }
  const bytes = await bytesWithin(sandbox, path, largestResource, signal);
  if (bytes === undefined) {
    throw new InvalidArgumentsError(
      `${path} is too large for a resource, which has at most ${largestResource} bytes: read parts of it with run_command, such as head -c.`,
    );
  }
  const mimeType = typeOf(path, bytes);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const content = isText(bytes) ? { text: buffer.toString() } : { blob: buffer.toString("base64") };
  return { contents: [{ uri, mimeType, ...content, ...untrusted }] };
}

/** The entry of a path, found in the list of its directory: clouds have no operation for one entry. */
async function entryAt(
  sandbox: Sandbox,
  path: string,
  uri: string,
  signal: AbortSignal,
): Promise<Pick<FileEntry, "isDirectory" | "size">> {
  const [, parent = "", name] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
  if (parent === "") return { isDirectory: true, size: 0 };
  const { entries } = await sandbox.files.list(parent, { signal });
  const entry = entries.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  throw new ResourceNotFoundError(uri, `There is no file at ${path}; file_list shows what is in ${parent}.`);
}

function root(name: string): Pick<FileEntry, "name" | "isDirectory" | "size"> {
  return { name, isDirectory: true, size: 0 };
}

function directory(
  uri: string,
  path: string,
  entries: readonly Pick<FileEntry, "name" | "isDirectory" | "size">[],
  total: number,
): ReadResourceResult {
  const base = uri.replace(/\/$/, "");
  const listed = entries.map(({ name, isDirectory, size }) => ({
    name,
    uri: `${base}/${encodeURIComponent(name)}`,
    is_directory: isDirectory,
    size,
  }));
  const { items, truncated } = firstEntries(listed, mostEntries);
  return jsonContents(uri, { path, files: items, count: items.length, total_files: total, truncated });
}

/** Paths that begin with `typed`, without the first slash, from one directory at a time. */
async function pathsBeginning(sandbox: Sandbox, typed: string, signal: AbortSignal): Promise<string[]> {
  const [, parent = "", beginning = ""] = /^\/?(.*\/)?([^/]*)$/.exec(typed) ?? [];
  const entries =
    parent === ""
      ? [root("workspace"), root("tmp")]
      : (await sandbox.files.list(`/${parent}`, { signal })).entries;
  return entries.filter(({ name }) => name.startsWith(beginning)).map(({ name }) => `${parent}${name}`);
}
