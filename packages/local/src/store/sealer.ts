import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { InvalidSecretsKeyError } from "../errors/local-errors.js";

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Seals texts for the data directory with a key that is not in it: a copy of the directory is of no use without the key. */
export class Sealer {
  /** Tells this key from others. */
  readonly id: string;
  readonly #key: Buffer;

  private constructor(key: Buffer) {
    this.#key = key;
    this.id = createHash("sha256")
      .update("cloud-sandbox secrets key ")
      .update(key)
      .digest("hex")
      .slice(0, 16);
  }

  /** @throws InvalidSecretsKeyError when the file has no key, others can read it, or it is in the data directory. */
  static fromFile(path: string, dataDirectory: string | undefined): Sealer {
    try {
      const { mode } = statSync(path);
      if ((mode & 0o077) !== 0) throw new Error(`other users can read it: run chmod 600 ${path}`);
      if (dataDirectory !== undefined && isBelow(realpathSync(path), realpathSync(dataDirectory)))
        throw new Error("it is in the data directory, and a copy of that would have it");
      const key = keyIn(readFileSync(path));
      if (!key) throw new Error(`it does not have ${keyBytes} bytes, or their 64 hexadecimal digits`);
      return new Sealer(key);
    } catch (error) {
      throw new InvalidSecretsKeyError(path, error as Error);
    }
  }

  /** The sealed text, in base64. `about` says what it is, so that sealed texts cannot be exchanged. */
  seal(text: string, about: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(about));
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
  }

  /** The text. Undefined if another key sealed it, it is about something else, or it was changed. */
  open(sealed: string, about: string): string | undefined {
    const bytes = Buffer.from(sealed, "base64");
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, nonceBytes))
        .setAAD(Buffer.from(about))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const opened = [decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()];
      return Buffer.concat(opened).toString("utf8");
    } catch {
      return undefined;
    }
  }
}

function keyIn(content: Buffer): Buffer | undefined {
  if (content.length === keyBytes) return content;
  const text = content.toString("latin1").trim();
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : undefined;
}

function isBelow(path: string, directory: string): boolean {
  const below = relative(directory, path);
  return below !== "" && !below.startsWith("..") && !isAbsolute(below);
}
