import { connect } from "node:net";

/** Joins the standard streams, which are those of a `docker exec`, with the supervisor's socket. Ends when either ends. */
const socket = connect(process.argv[2] ?? "");
for (const stream of [socket, process.stdin, process.stdout])
  stream.on("error", () => process.exit(1)).once("close", () => process.exit(0));
process.stdin.once("end", () => process.exit(0)).pipe(socket);
socket.pipe(process.stdout);
