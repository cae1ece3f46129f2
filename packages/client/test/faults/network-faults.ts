import { broken, type Fault, type FaultGroup, type Outcome, timedOut } from "./fault.js";

/** A fault at the name, the port or the handshake: no request reaches the server. */
const unreached = (code: string): Pick<Fault, "outcome" | "misbehave" | "tries"> => ({
  misbehave: () => undefined,
  outcome: { error: "NetworkError", code },
  tries: 0,
});

export const networkFaults: FaultGroup = {
  title: "Names, ports and certificates",
  faults: [
    {
      fault: "has a name that is not known",
      baseUrl: () => `http://${"a".repeat(64)}.invalid`,
      ...unreached("ENOTFOUND"),
    },
    { fault: "listens on another port", baseUrl: () => "http://127.0.0.1:10", ...unreached("ECONNREFUSED") },
    {
      fault: "has a certificate that it signed itself",
      tls: "self-signed",
      ...unreached("DEPTH_ZERO_SELF_SIGNED_CERT"),
    },
    {
      fault: "has a certificate that has expired",
      tls: "expired",
      carrier: "fetch",
      ...unreached("CERT_HAS_EXPIRED"),
    },
    {
      fault: "has a certificate for another host",
      tls: "for another host",
      carrier: "fetch",
      ...unreached("ERR_TLS_CERT_ALTNAME_INVALID"),
    },
    {
      fault: "speaks no TLS where it should",
      baseUrl: (url) => url.replace("http:", "https:"),
      at: "connection",
      misbehave: ({ connection }) =>
        void connection.on("data", () => connection.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
      outcome: { error: "NetworkError", code: "ERR_SSL_WRONG_VERSION_NUMBER" },
    },
    {
      fault: "speaks TLS where it should not",
      tls: "issued",
      baseUrl: (url) => url.replace("https:", "http:"),
      misbehave: () => undefined,
      outcome: broken,
      tries: 0,
    },
    {
      fault: "never answers the handshake of TLS",
      baseUrl: (url) => url.replace("http:", "https:"),
      at: "connection",
      // End the connection at last: undici closes it only when the handshake has ended.
      misbehave: ({ connection }) => void setTimeout(() => connection.destroy(), 1500),
      ...timedOut(),
    },
  ],
};

export const proxied = "http://sandbox.invalid";

const refused: Outcome = { error: "NetworkError", code: "UND_ERR_ABORTED" };
const proxy: Pick<Fault, "at" | "carrier" | "isProxy"> = {
  at: "CONNECT sandbox.invalid:80",
  carrier: "fetch",
  isProxy: true,
};

export const proxyFaults: FaultGroup = {
  title: "Proxies, of a `fetch` that goes through one",
  faults: [
    {
      ...proxy,
      fault: "asks for credentials (407)",
      misbehave: (exchange) => exchange.answer(407, ""),
      outcome: refused,
      tries: 3,
    },
    {
      ...proxy,
      fault: "does not reach the server (502)",
      misbehave: (exchange) => exchange.answer(502, ""),
      outcome: refused,
      tries: 3,
    },
    {
      ...proxy,
      fault: "resets the connection",
      misbehave: (exchange) => exchange.reset(),
      outcome: broken,
      tries: 3,
    },
    { ...proxy, fault: "never answers", misbehave: () => undefined, ...timedOut() },
  ],
};
