import { InvalidPublicUrlError } from "../errors/local-errors.js";

/** The address under which a proxy in front of this server is reached. */
export class PublicAddress {
  readonly #url: URL;

  /** @throws InvalidPublicUrlError when the text is not a URL of a server. */
  constructor(text: string) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isServer = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!isServer) throw new InvalidPublicUrlError(text);
    this.#url = url;
  }

  /** The URL, without a slash at the end. */
  get url(): string {
    return this.#url.origin;
  }

  get hostname(): string {
    return this.#url.hostname;
  }

  /** Whether a caller with this `Host` header used the public address. */
  isFor(host: string | undefined): boolean {
    return host?.toLowerCase() === this.#url.host;
  }
}
