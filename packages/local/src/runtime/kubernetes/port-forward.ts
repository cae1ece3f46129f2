import { once } from "node:events";
import type { RequestOptions } from "node:https";
import type { Socket } from "node:net";
import WebSocket from "ws";
import type { Cluster } from "./cluster.js";

const subprotocol = "v4.channel.k8s.io";
/** The channels of the only port: its bytes, and what went wrong. */
const [data, failure] = [0, 1];
/** Bytes that may wait to be sent to the API server before reading stops. */
const mostWaiting = 1024 * 1024;

/** Joins `socket` with a port of a Pod, through the API server. Rejects when the API server refuses, or the signal aborts before it answers. */
export async function forwardPort(
  { config, namespace }: Cluster,
  pod: string,
  port: number,
  socket: Socket,
  signal: AbortSignal,
): Promise<void> {
  const server = config.getCurrentCluster()?.server.replace(/\/$/, "").replace(/^http/, "ws");
  const tls: RequestOptions = {};
  await config.applyToHTTPSOptions(tls);
  // The types of the two libraries differ in a function that is not set here.
  const { checkServerIdentity: _, ...options } = tls;
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/portforward?ports=${port}`;
  const ws = new WebSocket(`${server}${path}`, [subprotocol], options);
  // The first message of each channel is the number of the port.
  const begun = new Set<number>();
  ws.on("message", (message: Buffer) => {
    const channel = message[0] ?? failure;
    if (!begun.has(channel)) return void begun.add(channel);
    if (channel !== data) return void socket.destroy();
    if (!socket.write(message.subarray(1))) {
      ws.pause();
      socket.once("drain", () => ws.resume());
    }
  });
  await once(ws, "open", { signal }).catch((error: unknown) => {
    ws.on("error", () => undefined).terminate();
    throw error;
  });
  ws.on("error", () => socket.destroy());
  ws.once("close", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => {
    ws.send(Buffer.concat([Uint8Array.of(data), bytes]), () => {
      if (ws.bufferedAmount < mostWaiting) socket.resume();
    });
    if (ws.bufferedAmount >= mostWaiting) socket.pause();
  });
  socket.once("close", () => ws.terminate());
}
