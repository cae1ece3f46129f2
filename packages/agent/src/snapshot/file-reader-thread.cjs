// Lists, hashes and reads files, in a thread of its own: see `file-reader.ts`. Paths have a character for each byte.
"use strict";
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");

/** `roots`: what to list; `own`: mounts that belong to it; `temporary`: where the agent has files that nobody else looks for. */
const { operation, request, roots, own, temporary, taken } = workerData;

const longestPath = 4096;
const mostLevels = 256;
const largestFile = 256 * 1024 * 1024;
const pieceLength = 64 * 1024;
const buffer = Buffer.allocUnsafe(1024 * 1024);

let facts = [];
let length = 0;
let posted = 0;

function tell(fact) {
  facts.push(fact);
  length += 80 + fact.path.length;
  if (length >= pieceLength) post();
}

/** Hands over a line of facts, and waits until those before are sent: code decides how many there are. */
function post() {
  parentPort.postMessage(`${JSON.stringify({ facts })}\n`);
  facts = [];
  length = 0;
  posted += 1;
  for (let done = Atomics.load(taken, 0); done < posted - 1; done = Atomics.load(taken, 0))
    Atomics.wait(taken, 0, done);
}

const bytes = (path) => Buffer.from(path, "latin1");

/** Undefined if code has changed meanwhile what is looked at, or keeps others from it. */
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const statusOf = (path) => attempt(() => fs.lstatSync(bytes(path), { bigint: true }));

function typeOf(status) {
  if (status.isFile()) return "file";
  if (status.isDirectory()) return "directory";
  return status.isSymbolicLink() ? "link" : "other";
}

/** What is mounted from elsewhere, and the devices of overlays whose lower layers all sandboxes of a template have. */
const mounts = new Set();
const shared = new Set();

function listAll() {
  for (const line of fs.readFileSync("/proc/self/mountinfo", "latin1").split("\n")) {
    const path = (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
    if (!own.includes(path)) mounts.add(path);
    else if (line.includes(" - overlay ") && !request.whole) shared.add(statusOf(path)?.dev);
  }
  for (const root of roots) list(root === "/" ? "" : root, 0, () => undefined);
}

/** Lists what is in a directory. `onCount` is called before with how many entries are left out. */
function list(directory, level, onCount) {
  const all = attempt(() => fs.readdirSync(bytes(directory || "/"), "latin1")) ?? [];
  const names =
    level < mostLevels ? all.filter((name) => directory.length + 1 + name.length < longestPath).sort() : [];
  onCount(all.length - names.length);
  for (const name of names) {
    const path = `${directory}/${name}`;
    if (directory === temporary && name.startsWith(".cloud-sandbox-")) continue;
    const status = mounts.has(path) ? undefined : statusOf(path);
    if (status) entry(path, status, level);
    else if (mounts.has(path)) tell({ path, type: "mount" });
  }
}

function entry(path, status, level) {
  const type = typeOf(status);
  const mode = Number(status.mode);
  if (type === "directory" && isUntouched(status, mode)) tell({ path, type, untouched: true });
  else if (type === "directory")
    whileOpen(path, mode, () =>
      list(path, level + 1, (skipped) => tell({ path, type, ...(skipped > 0 && { skipped }) })),
    );
  else if (type === "link")
    tell({ path, type, target: attempt(() => fs.readlinkSync(bytes(path), "latin1")) });
  else if (type === "other") tell({ path, type });
  else
    tell({
      path,
      type,
      size: Number(status.size),
      executable: (mode & 0o111) !== 0,
      modified: String(status.mtimeNs),
    });
}

/**
 * Whether code has changed nothing below a directory: it is another user's, and in one layer alone. Had code written to anything below,
 * the directory would be merged of two layers, and have one link.
 */
const isUntouched = (status, mode) =>
  shared.has(status.dev) &&
  status.nlink > 1n &&
  Number(status.uid) !== process.geteuid() &&
  (mode & 0o022) === 0;

/** Opens a directory that its owner may not read, for as long as it is listed: nothing is hidden by its mode. */
function whileOpen(path, mode, work) {
  const isClosed = (mode & 0o500) !== 0o500 && process.geteuid() !== 0;
  if (isClosed) attempt(() => fs.chmodSync(bytes(path), (mode | 0o500) & 0o7777));
  work();
  if (isClosed) attempt(() => fs.chmodSync(bytes(path), mode & 0o7777));
}

/** Reads a regular file of at most `largest` bytes. Throws if it is another one at the end. A pipe without a writer is not waited for. */
function read(path, largest, onPiece) {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const file = fs.openSync(bytes(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const before = fs.fstatSync(file, { bigint: true });
    if (!before.isFile() || before.size > largest) throw new Error("it is not such a file");
    let length = 0;
    for (
      let count = fs.readSync(file, buffer);
      count > 0 && length <= largest;
      count = fs.readSync(file, buffer)
    ) {
      length += count;
      onPiece(buffer.subarray(0, count));
    }
    const after = fs.fstatSync(file, { bigint: true });
    if (BigInt(length) !== after.size || after.mtimeNs !== before.mtimeNs)
      throw new Error("it changed meanwhile");
  } finally {
    fs.closeSync(file);
  }
}

function digestOf(path) {
  const hash = createHash("sha256");
  if (fs.lstatSync(bytes(path)).isSymbolicLink()) hash.update(fs.readlinkSync(bytes(path), "buffer"));
  else read(path, largestFile, (piece) => hash.update(piece));
  return hash.digest("hex");
}

/** The bytes of a file or of a link's target, or why there are none. Undefined if there is no such file. */
function sideOf(path, largest) {
  const status = statusOf(path);
  if (!status || status.isDirectory()) return undefined;
  if (status.isSymbolicLink()) return { bytes: fs.readlinkSync(bytes(path), "latin1") };
  if (!status.isFile()) return { omitted: "binary" };
  if (status.size > largest) return { omitted: "too_large" };
  const pieces = [];
  read(path, largest, (piece) => pieces.push(Buffer.from(piece)));
  const content = Buffer.concat(pieces);
  return content.includes(0) ? { omitted: "binary" } : { bytes: content.toString("latin1") };
}

if (operation === "list") listAll();
else if (operation === "digests")
  for (const path of request.paths) tell({ path, digest: attempt(() => digestOf(path)) });
else tell({ path: request.path, side: sideOf(request.path, request.largest) });
post();
