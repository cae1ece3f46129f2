import type { PublicAddress } from "./gateway-server.js";
import { type PreviewUrls, previewUrls } from "./preview-gateway.js";

/** The addresses of a server, as a caller reaches it who sent this `Host` header. */
export class CallerAddresses {
  constructor(
    private readonly parts: {
      /** The base URL for callers on this machine, known once the server listens. */
      readonly url: () => string;
      readonly publicAddress: PublicAddress | undefined;
      /** Whether callers use several addresses: those of a machine, or of the servers that act as one. */
      readonly hasSeveral: boolean;
    },
  ) {}

  /** The public address, if the caller used it. */
  publicUrl(host: string | undefined): string | undefined {
    const { publicAddress } = this.parts;
    return publicAddress?.isFor(host) ? publicAddress.url : undefined;
  }

  base(host: string | undefined): string {
    const isNamed = this.parts.hasSeveral && host !== undefined && /^[\w.:[\]-]+$/.test(host);
    return this.publicUrl(host) ?? (isNamed ? `http://${host}` : this.parts.url());
  }

  previews(sandboxId: string, host: string | undefined): PreviewUrls {
    return previewUrls(sandboxId, this.base(host), this.publicUrl(host) !== undefined);
  }
}
