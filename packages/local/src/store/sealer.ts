import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { InvalidSecretsKeyError } from "../errors/local-errors.js";

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals texts for the data directory with a key that is not in it: a copy of the directory is of no use without the key. Older keys
 * open what they have sealed.
 */
export class Sealer {
  /** Tells this key from others. */
  readonly id: string;
  /** The ids of the older keys. */
  readonly olderIds: readonly string[];
  readonly #keys: readonly [Buffer, ...Buffer[]];

  private constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = keys;
    const [key, ...older] = keys;
    this.id = idOf(key);
    this.olderIds = older.map(idOf);
  }

  /** Whether there may be texts that an older key has sealed. */
  get hasOlderKeys(): boolean {
    return this.olderIds.length > 0;
  }

  /** @throws InvalidSecretsKeyError when the file has no key, others can read it, or it is in the data directory. */
  static fromFile(path: string, dataDirectory: string | undefined): Sealer {
    try {
      const { mode, uid } = statSync(path);
      // Kubernetes gives files of a Secret to root, and lets the group of the Pod read them.
      const allowed = uid === 0 && process.geteuid?.() !== 0 ? 0o740 : 0o700;
      if ((mode & 0o777 & ~allowed) !== 0) throw new Error(`other users can read it: run chmod 600 ${path}`);
      if (dataDirectory !== undefined && isBelow(realpathSync(path), realpathSync(dataDirectory)))
        throw new Error("it is in the data directory, and a copy of that would have it");
      const keys = keysIn(readFileSync(path));
      if (!keys) throw new Error(`it does not have ${keyBytes} bytes, or lines of 64 hexadecimal digits`);
      return new Sealer(keys);
    } catch (error) {
      throw new InvalidSecretsKeyError(path, error as Error);
    }
  }

  /** The sealed text, in base64. `about` says what it is, so that sealed texts cannot be exchanged. */
  seal(text: string, about: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#keys[0], nonce).setAAD(Buffer.from(about));
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
  }

  /** The text. Undefined if another key sealed it, it is about something else, or it was changed. */
  open(sealed: string, about: string): string | undefined {
    for (const key of this.#keys) {
      const text = opened(sealed, about, key);
      if (text !== undefined) return text;
    }
    return undefined;
  }
}

function opened(sealed: string, about: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(sealed, "base64");
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const text = [decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()];
    return Buffer.concat(text).toString("utf8");
  } catch {
    return undefined;
  }
}

const idOf = (key: Buffer): string =>
  createHash("sha256").update("cloud-sandbox secrets key ").update(key).digest("hex").slice(0, 16);

/** The key that seals, and those before it, each in a line. Undefined if the file has something else. */
function keysIn(content: Buffer): [Buffer, ...Buffer[]] | undefined {
  if (content.length === keyBytes) return [content];
  const lines = content.toString("latin1").trim().split(/\s+/);
  if (!lines.every((line) => /^[0-9a-f]{64}$/i.test(line))) return undefined;
  const [key, ...older] = lines.map((line) => Buffer.from(line, "hex"));
  return key && [key, ...older];
}

function isBelow(path: string, directory: string): boolean {
  const below = relative(directory, path);
  return below !== "" && !below.startsWith("..") && !isAbsolute(below);
}
