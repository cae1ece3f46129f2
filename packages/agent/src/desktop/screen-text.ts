import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem, unlessAborted } from "@cloud-sandbox/server-kit";
import type { Desktop } from "./desktop.js";
import { printable } from "./printable.js";
import { largestImage, type Region, type Screen } from "./screen.js";

type Bounds = AgentSchemas["ElementBounds"];

/** Text of screens is small: Tesseract reads it better at twice its size. */
const enlargement = 2;
/** How Tesseract looks for text: in paragraphs, or anywhere, as that of buttons, for which it takes more that is none. */
const paragraphs = "3";
const scattered = "11";
/** Milliseconds that reading a screen may take. */
const readLimitMs = 60_000;
/** Milliseconds between two looks for a text that is waited for. */
const waitIntervalMs = 500;

interface Word {
  readonly text: string;
  /** Percent. */
  readonly confidence: number;
  /** Block, paragraph and line. */
  readonly line: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Reads text off the screen, one look at a time: each takes a processor for a second or so. */
export class ScreenText {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly desktop: Desktop,
    private readonly screen: Screen,
  ) {}

  async read(region: Region, language: string, signal: AbortSignal): Promise<AgentSchemas["OcrResponse"]> {
    const words = await this.#words({ region, language, segmentation: paragraphs, signal });
    const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / (words.length || 1) / 100;
    const text = linesOf(words).map((line) => line.map((word) => word.text).join(" "));
    return { text: text.join("\n"), confidence: Math.round(confidence * 100) / 100 };
  }

  /** Where a text is on the screen, within one line and whatever its case. Undefined if it is not there. */
  async find(text: string, signal: AbortSignal): Promise<Bounds | undefined> {
    const wanted = text.trim().replace(/\s+/g, " ").toLowerCase();
    if (wanted === "") throw new Problem(400, "INVALID_REQUEST", "text is empty: name a text to look for.");
    for (const segmentation of [paragraphs, scattered]) {
      for (const line of linesOf(await this.#words({ language: "eng", segmentation, signal }))) {
        const found = wordsWith(line, wanted);
        if (found.length > 0) return boundsOf(found);
      }
    }
    return undefined;
  }

  async waitFor(text: string, seconds: number, signal: AbortSignal): Promise<Bounds | undefined> {
    const limit = AbortSignal.timeout(seconds * 1000);
    const either = AbortSignal.any([signal, limit]);
    try {
      while (true) {
        const found = await this.find(text, either);
        if (found !== undefined) return found;
        await sleep(waitIntervalMs, undefined, { signal: either });
      }
    } catch (error) {
      if (limit.aborted && !signal.aborted) return undefined;
      throw error;
    }
  }

  async #words(look: Look): Promise<readonly Word[]> {
    const previous = this.#last;
    const reading = previous.then(() => {
      look.signal.throwIfAborted();
      return this.#look(look);
    });
    this.#last = reading.catch(() => undefined);
    // Who gives up does not wait for the looks of others.
    return unlessAborted(reading, look.signal);
  }

  async #look({ region, language, segmentation, signal }: Look): Promise<readonly Word[]> {
    const shot = await this.screen.shot({ region, signal });
    const size = `${enlargement * 100}%`;
    const clear = await this.desktop.tool({
      command: "convert",
      args: ["png:-", "-colorspace", "Gray", "-normalize", "-resize", size, "png:-"],
      input: shot.bytes,
      maxBytes: largestImage,
      signal,
    });
    const { stdout } = await this.desktop.tool(
      {
        command: "tesseract",
        args: ["stdin", "stdout", "-l", language, "--dpi", "150", "--psm", segmentation, "tsv"],
        input: clear.stdout,
        timeoutMs: readLimitMs,
        signal,
      },
      ({ code, stderr }) =>
        code !== 0 && /load.* language/i.test(stderr) ? unknownLanguage(language) : undefined,
    );
    const { x = 0, y = 0 } = region ?? {};
    return wordsIn(stdout.toString()).map((word) => ({
      ...word,
      left: Math.round(word.left / enlargement) + x,
      top: Math.round(word.top / enlargement) + y,
      width: Math.round(word.width / enlargement),
      height: Math.round(word.height / enlargement),
    }));
  }
}

interface Look {
  /** Default: the whole screen. */
  readonly region?: Region;
  readonly language: string;
  readonly segmentation: string;
  readonly signal: AbortSignal;
}

/** The words of Tesseract's table. Its columns: level, page, block, paragraph, line, word, left, top, width, height, confidence, text. */
function wordsIn(table: string): Word[] {
  return table.split("\n").flatMap((row) => {
    const [level, , block, paragraph, line, , left, top, width, height, confidence, text = ""] =
      row.split("\t");
    if (level !== "5" || text.trim() === "") return [];
    return [
      {
        text: printable(text.trim()),
        confidence: Math.max(0, Number(confidence)),
        line: `${block} ${paragraph} ${line}`,
        ...{ left: Number(left), top: Number(top), width: Number(width), height: Number(height) },
      },
    ];
  });
}

/** The words of each line, from the top of the screen. */
function linesOf(words: readonly Word[]): Word[][] {
  const lines = new Map<string, Word[]>();
  for (const word of words) lines.set(word.line, [...(lines.get(word.line) ?? []), word]);
  return [...lines.values()];
}

/** The words of a line that make up a text, which may begin and end within a word. */
function wordsWith(line: readonly Word[], wanted: string): Word[] {
  const at = line
    .map(({ text }) => text.toLowerCase())
    .join(" ")
    .indexOf(wanted);
  if (at < 0) return [];
  let start = 0;
  return line.filter(({ text }) => {
    const begin = start;
    start += text.length + 1;
    return begin < at + wanted.length && begin + text.length > at;
  });
}

function boundsOf(words: readonly Word[]): Bounds {
  const x = Math.min(...words.map(({ left }) => left));
  const y = Math.min(...words.map(({ top }) => top));
  return {
    text: words.map(({ text }) => text).join(" "),
    x,
    y,
    width: Math.max(...words.map(({ left, width }) => left + width)) - x,
    height: Math.max(...words.map(({ top, height }) => top + height)) - y,
  };
}

const unknownLanguage = (language: string): Problem =>
  new Problem(400, "INVALID_REQUEST", `Tesseract has not all of the language ${language} in this template.`, {
    hint: 'Use a language that it has, such as "eng", or a template with the Debian package of the language, such as tesseract-ocr-deu.',
  });
