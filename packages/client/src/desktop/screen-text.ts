import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit } from "../config/call-options.js";
import { checkText, requireText } from "../config/option-checks.js";
import { margin } from "../config/time-limits.js";
import { invalidArgument } from "../errors/errors.js";
import { bodyOf } from "../transport/contract-clients.js";
import type { ScreenRegion } from "./screen-geometry.js";
import { checkRegion } from "./screen-geometry.js";

/** Text that was recognised on the screen. */
export interface RecognisedText {
  text: string;
  /** As the server rates it; undefined where it does not. */
  confidence: number | undefined;
}

/** Where a text is on the screen, in pixels. */
export type TextBounds = AgentSchemas["ElementBounds"];

export interface TextWaitOptions extends CallOptions {
  /** Seconds to wait, 1 to 300. Default 30. */
  timeoutSeconds?: number | undefined;
}

/** Text on a desktop, recognised by its looks. */
export class ScreenText {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): ScreenText {
    return new ScreenText(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Reads a part of the screen, in a language by its Tesseract name (POST /desktop/x11/ocr). Default: `eng`. */
  async read(
    region: ScreenRegion,
    options: CallOptions & { language?: string | undefined } = {},
  ): Promise<RecognisedText> {
    checkRegion(region);
    checkText("language", options.language);
    const body = { ...region, language: options.language ?? "eng" };
    const init = { body, ...callInit(options) };
    const { confidence, text } = await bodyOf(this.#access.client.POST("/desktop/x11/ocr", init));
    return { text: text ?? "", confidence };
  }

  /** Where a text is now; undefined when it is not there (POST /desktop/x11/find_element). */
  async find(text: string, options?: CallOptions): Promise<TextBounds | undefined> {
    requireText("text", text);
    const init = { body: { text }, ...callInit(options) };
    return bounds(await bodyOf(this.#access.client.POST("/desktop/x11/find_element", init)));
  }

  /** Waits until a text is there; undefined when it has not come (POST /desktop/x11/wait_for). */
  async waitFor(text: string, options: TextWaitOptions = {}): Promise<TextBounds | undefined> {
    const timeout = options.timeoutSeconds ?? 30;
    requireText("text", text);
    if (!(timeout >= 1 && timeout <= 300))
      throw invalidArgument("timeoutSeconds must be a number of seconds from 1 to 300.");
    const init = { body: { text, timeout }, ...callInit(options, timeout + margin) };
    return bounds(await bodyOf(this.#access.client.POST("/desktop/x11/wait_for", init)));
  }

  /** Where a text is, exactly; undefined when it is not there (POST /desktop/x11/get_bounds). */
  async bounds(text: string, options?: CallOptions): Promise<TextBounds | undefined> {
    requireText("text", text);
    const init = { body: { text }, ...callInit(options) };
    return bounds(await bodyOf(this.#access.client.POST("/desktop/x11/get_bounds", init)));
  }
}

function bounds({ element, found }: AgentSchemas["FoundElement"]): TextBounds | undefined {
  return found === false ? undefined : (element ?? undefined);
}
