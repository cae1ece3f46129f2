import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkText,
  margin,
  requestInit,
  requireText,
} from "../config/options.js";
import { invalidArgument } from "../errors/errors.js";
import { bodyOf } from "../transport/contract-clients.js";
import { checkRegion, type ScreenRegion } from "./screen-geometry.js";

/** Text recognized on the screen. */
export interface RecognisedText {
  text: string;
  /** The server's confidence in the recognition; undefined if it gives none. */
  confidence: number | undefined;
}

/** Position and size of a text on the screen, in pixels. */
export type TextBounds = AgentSchemas["ElementBounds"];

/** Options of `text.waitFor`. */
export interface TextWaitOptions extends CallOptions {
  /** Seconds to wait, 1 to 300. Default 30. */
  timeoutSeconds?: number | undefined;
}

/** Finds text on the screen by optical character recognition (OCR). */
export class ScreenText {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): ScreenText {
    return new ScreenText(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /**
   * Recognizes the text in a part of the screen (POST /desktop/x11/ocr). The language is given by its Tesseract name;
   * default `eng`.
   */
  async read(
    region: ScreenRegion,
    options: CallOptions & { language?: string | undefined } = {},
  ): Promise<RecognisedText> {
    checkKnown("text.read", options, { ...callOptionNames, language: true });
    checkRegion(region);
    checkText("language", options.language);
    const body = { ...region, language: options.language ?? "eng" };
    const init = { body, ...requestInit(options) };
    const { confidence, text } = await bodyOf(this.#access.client.POST("/desktop/x11/ocr", init));
    return { text: text ?? "", confidence };
  }

  /** Finds a text on the screen (POST /desktop/x11/find_element). Resolves with undefined if it is not there. */
  async find(text: string, options?: CallOptions): Promise<TextBounds | undefined> {
    requireText("text", text);
    const init = { body: { text }, ...callInit(options) };
    return bounds(await bodyOf(this.#access.client.POST("/desktop/x11/find_element", init)));
  }

  /** Waits until a text appears (POST /desktop/x11/wait_for). Resolves with undefined if it does not appear in time. */
  async waitFor(text: string, options: TextWaitOptions = {}): Promise<TextBounds | undefined> {
    checkKnown("text.waitFor", options, { ...callOptionNames, timeoutSeconds: true });
    const timeout = options.timeoutSeconds ?? 30;
    requireText("text", text);
    if (!(timeout >= 1 && timeout <= 300))
      throw invalidArgument("timeoutSeconds must be a number of seconds from 1 to 300.");
    const init = { body: { text, timeout }, ...requestInit(options, timeout + margin) };
    return bounds(await bodyOf(this.#access.client.POST("/desktop/x11/wait_for", init)));
  }

  /** Exact position of a text (POST /desktop/x11/get_bounds). Resolves with undefined if it is not there. */
  async bounds(text: string, options?: CallOptions): Promise<TextBounds | undefined> {
    requireText("text", text);
    const init = { body: { text }, ...callInit(options) };
    return bounds(await bodyOf(this.#access.client.POST("/desktop/x11/get_bounds", init)));
  }
}

function bounds({ element, found }: AgentSchemas["FoundElement"]): TextBounds | undefined {
  return found === false ? undefined : (element ?? undefined);
}
