/**
 * Reads and writes copied directories, in a process of its own: beside a machine, with the rights that its files need, and on the
 * host, with those of the directory's owner. The first argument is what to do; the first line of stdin is the request.
 */
import { writeSync } from "node:fs";
import { type BytePath, bytesOf } from "./byte-path.js";
import { ContentReader, protocolLine, sendContent } from "./content-stream.js";
import {
  type ApplyingRequest,
  type HostRequest,
  hasTooMany,
  mostChanges,
  wasReplaced,
} from "./copy-requests.js";
import {
  type HostEntry,
  manifestRecord,
  mostEntries,
  readManifest,
  TooManyEntriesError,
  writeManifest,
} from "./host-manifest.js";
import { HostWriter } from "./host-writer.js";
import { OpenDirectory } from "./open-directory.js";
import { type ComparedSides, sideAt, textDiff } from "./text-diff.js";
import { type CopyPlaces, TreeComparison } from "./tree-comparison.js";

const stdin = 0;
const stdout = 1;
const input = new ContentReader(stdin);

function send(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(stdout, bytes, at);
}

const programs: Readonly<Record<string, (request: string) => void>> = {
  changes: (request) => {
    let count = 0;
    let lines: Buffer[] = [];
    const flush = (): void => {
      send(Buffer.concat(lines));
      lines = [];
    };
    for (const change of new TreeComparison(JSON.parse(request) as CopyPlaces).changes()) {
      count += 1;
      if (count > mostEntries) break;
      if (count <= mostChanges) lines.push(protocolLine(change));
      if (lines.length === 1000) flush();
    }
    lines.push(protocolLine({ count }));
    flush();
  },

  diff: (request) => {
    const { lower, merged, path } = JSON.parse(request) as CopyPlaces & { path: BytePath };
    sendDiff({ path, before: sideAt(lower, path), after: sideAt(merged, path) });
  },

  sides: (request) => sendDiff(JSON.parse(request) as ComparedSides),

  contents: (request) => {
    const { merged, paths } = JSON.parse(request) as CopyPlaces & { paths: readonly BytePath[] };
    for (const path of paths) sendContent(merged, path, stdout);
  },

  manifest: (request) => {
    const root = openAsOwner(JSON.parse(request) as HostRequest);
    let records: string[] = [];
    const flush = (): void => {
      send(bytesOf(records.join("")));
      records = [];
    };
    writeManifest(root, (record) => {
      records.push(record);
      if (records.length === 1000) flush();
    });
    flush();
  },

  apply: (request) => {
    const { known, operations, check, ...host } = JSON.parse(request) as ApplyingRequest;
    const root = openAsOwner(host);
    const entries = readManifest(known);
    const note = (path: BytePath, entry: HostEntry | undefined): void => {
      entries.set(path, entry);
      send(protocolLine({ record: manifestRecord(path, entry) }));
    };
    const writer = new HostWriter(root, { get: (path) => entries.get(path), note }, check, (result) =>
      send(protocolLine(result)),
    );
    writer.apply(operations, input);
    if (!isStillAt(host)) process.exitCode = wasReplaced;
  },
};

/** Unlike the other answers, it is text. */
const sendDiff = (sides: ComparedSides): void => send(Buffer.from(JSON.stringify(textDiff(sides) ?? null)));

/** Opens the directory, and gives up all rights but its owner's. */
function openAsOwner({ path, identity, owner }: HostRequest): OpenDirectory {
  let root: OpenDirectory | undefined;
  try {
    root = OpenDirectory.open(path);
  } catch {
    process.exit(wasReplaced);
  }
  if (identityOf(root) !== identity) process.exit(wasReplaced);
  if (process.getuid?.() === 0 && owner.uid !== 0) {
    process.setgroups?.([]);
    process.setgid?.(owner.gid === 0 ? owner.uid : owner.gid);
    process.setuid?.(owner.uid);
  }
  process.umask(0);
  return root;
}

function identityOf(directory: OpenDirectory): string {
  const { dev, ino } = directory.status();
  return `${dev}:${ino}`;
}

function isStillAt({ path, identity }: HostRequest): boolean {
  try {
    const directory = OpenDirectory.open(path);
    try {
      return identityOf(directory) === identity;
    } finally {
      directory.close();
    }
  } catch (error) {
    // Its owner may be kept from a directory above it.
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

try {
  programs[process.argv[2] ?? ""]?.(input.line());
} catch (error) {
  if (error instanceof TooManyEntriesError) process.exit(hasTooMany);
  writeSync(2, error instanceof Error ? error.message : String(error));
  process.exit(1);
}
