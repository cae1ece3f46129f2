import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { destroyOnAbort } from "../relay/destroy-on-abort.js";
import { authorityOf, type Destination, EgressProblem } from "./destination.js";
import { failedAnswer } from "./failed-answer.js";

/** The environment variable with the URL of the proxy that this machine needs to reach the internet. */
export const upstreamProxyVariable = "CLOUD_SANDBOX_UPSTREAM_PROXY";

/** The HTTP proxy that this machine needs to reach the internet. */
export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/** Parses the proxy's URL, `http://user:password@host:port`; undefined if it is not an `http:` URL of this form. */
export function parseUpstreamProxy(text: string): UpstreamProxy | undefined {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  // A password with a "/", "?" or "#" ends the host early, and what follows would be ignored.
  if (url?.protocol !== "http:" || url.pathname + url.search + url.hash !== "/") return undefined;
  const { username, password } = url;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 80),
    authorization:
      username || password
        ? `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`
        : undefined,
  };
}

/** Opens a CONNECT tunnel to `destination`. The proxy gets the name and not an address, because the proxy's rules may be about names. */
export async function connectThrough(
  proxy: UpstreamProxy,
  destination: Destination,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = authorityOf(destination);
  const socket = await connectToProxy(proxy, signal);
  return new Promise((resolve, reject) => {
    const fail = (problem: EgressProblem): void => {
      socket.destroy();
      reject(problem);
    };
    const connectRequest = request({
      createConnection: () => socket,
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...authorization(proxy) },
    });
    const stopListening = destroyOnAbort(signal, socket, reject);
    connectRequest.once("error", (error) =>
      fail(new EgressProblem("unreachable", failedAnswer(ofMachine, error))),
    );
    connectRequest.once("connect", ({ statusCode = 0, headers }, _socket, head) => {
      if (statusCode === 407) return fail(signInProblem(proxy, headers["proxy-authenticate"]));
      if (statusCode < 200 || statusCode > 299)
        return fail(problem(`refused ${authority} (${statusCode})${advice(destination.port)}`));
      stopListening();
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    connectRequest.end();
  });
}

/** Connects to the proxy itself, for a request that names its server. */
export function connectToProxy({ host, port }: UpstreamProxy, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    const stopListening = destroyOnAbort(signal, socket, reject);
    // Stays, so that an error of the open connection ends only this connection.
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      socket.destroy();
      reject(problem(`could not be reached${code ? ` (${code})` : ""}`));
    });
    socket.once("connect", () => {
      stopListening();
      resolve(socket);
    });
  });
}

/** The header with the proxy's user and password. */
export const authorization = ({ authorization }: UpstreamProxy): Record<string, string> =>
  authorization === undefined ? {} : { "proxy-authorization": authorization };

/** Describes what to do when the upstream proxy wants a user name and a password (407). */
export function signInProblem(
  { authorization }: UpstreamProxy,
  schemes: string | readonly string[] | undefined,
): EgressProblem {
  const offered = [schemes ?? []].flat().join(", ");
  if (offered !== "" && !/\bbasic\b/i.test(offered)) {
    const [names] = [offered.match(/[A-Za-z]\w*/g) ?? []];
    return problem(
      `does not take a user name and password (407 ${names.slice(0, 3).join(", ")}): run a proxy on this machine that signs in, such as Px or Cntlm, and name that one with --egress-upstream-proxy`,
    );
  }
  const what = authorization === undefined ? "wants" : "did not accept";
  return problem(
    `${what} a user name and password (407): its operator sets them in the URL of --egress-upstream-proxy or ${upstreamProxyVariable}, http://USER:PASSWORD@HOST:PORT`,
  );
}

/** The proxy's name in messages for people. */
export const ofMachine = "The upstream proxy of this machine";

const problem = (why: string): EgressProblem => new EgressProblem("unreachable", `${ofMachine} ${why}.`);

const advice = (port: number): string =>
  port === 443 ? "" : ": many proxies allow CONNECT to port 443 alone";

/** Decodes what is percent-encoded, and takes a "%" that encodes nothing as it is. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
