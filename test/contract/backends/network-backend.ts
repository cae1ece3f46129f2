import { SandboxClient } from "cloud-sandbox";
import { FrameSocket } from "../../support/frame-socket.js";
import type { Backend } from "./backend.js";

/** A backend that is reached over the network, on this machine or elsewhere. */
export function networkBackend(place: Pick<Backend, "url" | "apiKey" | "languages">): Backend {
  const { url: baseUrl, apiKey } = place;
  const client = new SandboxClient({ apiKey, baseUrl });
  return {
    ...place,
    client,
    fetch: (url, init) => fetch(url, init),
    openSocket: (url, token) => FrameSocket.open(url, token),
    clientWith: (key) => new SandboxClient({ apiKey: key, baseUrl }),
    close: () => client.close(),
  };
}
