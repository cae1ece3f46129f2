import { connect, isIP, type Socket } from "node:net";

/** How long an address may be silent before the next is tried beside it (RFC 8305). */
const attemptMs = 250;
/** A name can have any number of addresses, and all attempts may be open at once. */
const mostAddresses = 6;

/**
 * Connects to the address that answers first: each gets a quarter of a second before the next is tried beside it, IPv4 and IPv6
 * in turn. Rejects with the first error when none can be reached, or with the signal's reason.
 */
export function firstConnection(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const waiting = inTurn(addresses).slice(0, mostAddresses);
    const open = new Set<Socket>();
    let timer: NodeJS.Timeout | undefined;
    let firstError: unknown;
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      waiting.length = 0;
      for (const socket of open) socket.destroy();
      open.clear();
    };
    const abort = (): void => {
      settle();
      reject(signal.reason);
    };
    const tryNext = (): void => {
      clearTimeout(timer);
      const host = waiting.shift();
      if (host === undefined) {
        if (open.size === 0) {
          settle();
          reject(firstError);
        }
        return;
      }
      const socket = connect({ host, port, allowHalfOpen: true });
      open.add(socket);
      socket.once("connect", () => {
        open.delete(socket);
        settle();
        resolve(socket);
      });
      // Stays, so that an error of the open connection ends only this connection.
      socket.on("error", (error) => {
        firstError ??= error;
        if (open.delete(socket)) tryNext();
      });
      if (waiting.length > 0) timer = setTimeout(tryNext, attemptMs);
    };
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    tryNext();
  });
}

/** IPv4 and IPv6 addresses in turn, IPv4 first. */
function inTurn(addresses: readonly string[]): string[] {
  const [four, six] = [4, 6].map((family) => addresses.filter((address) => isIP(address) === family));
  return addresses
    .flatMap((_, index) => [four?.[index], six?.[index]])
    .filter((address) => address !== undefined);
}
