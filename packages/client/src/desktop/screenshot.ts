import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { CallOptions } from "../config/options.js";
import { InvalidResponseError, reportIt } from "../errors/errors.js";

/** Options of `desktop.screenshot`. */
export interface ScreenshotOptions extends CallOptions {
  /** Scales the image down until neither side is longer, 64 to 8192 pixels. Default: not scaled. Servers of others may not know it. */
  maxEdge?: number | undefined;
}

/** An image of the screen or of a window. */
export interface Screenshot {
  /** Bytes of the image file. */
  bytes: Uint8Array;
  /** Image format: `png`, `jpeg`, …; undefined if neither the server nor the bytes say it. */
  format: string | undefined;
  /** Width in pixels; undefined if the server does not say. */
  width: number | undefined;
  height: number | undefined;
}

/** Reads a screenshot from an answer: the image itself, or JSON with the image in base64, depending on the server. */
export function screenshot(body: ArrayBuffer | undefined): Screenshot {
  const bytes = new Uint8Array(body ?? new ArrayBuffer(0));
  if (bytes.length === 0) throw noImage();
  if (bytes[0] !== openingBrace)
    return { bytes, format: formatOf(bytes), width: undefined, height: undefined };
  const { image, format, width, height } = described(new TextDecoder().decode(bytes));
  const decoded = decodedImage(image);
  return { bytes: decoded, format: format ?? formatOf(decoded), width, height };
}

const openingBrace = 0x7b;

function described(text: string): AgentSchemas["Screenshot"] {
  try {
    return JSON.parse(text);
  } catch {
    // Drop the parser's error, because it quotes the text.
    throw noImage();
  }
}

/** Decodes base64. Removes a data URL's prefix first, which some servers send: `data:image/png;base64,…`. */
function decodedImage(image: string | undefined): Uint8Array {
  const text = image?.replace(/^data:[^,]*,/, "") ?? "";
  if (text === "" || /[^A-Za-z0-9+/=\s]/.test(text)) throw noImage();
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function formatOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return "png";
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? "jpeg" : undefined;
}

function noImage(): InvalidResponseError {
  return new InvalidResponseError({
    summary: "The server's answer holds no image.",
    hint: reportIt,
    code: "INVALID_RESPONSE",
  });
}
