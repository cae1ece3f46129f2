/**
 * Runs code whose end is reported to a web server. The backend must be able to reach that server: a local backend
 * reports to addresses of this machine only with `--webhook-allow-private`.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { SandboxClient, verifyWebhook } from "cloud-sandbox";

const secret = randomBytes(32).toString("hex");
let reported;
const report = new Promise((resolve) => {
  reported = resolve;
});
const receiver = createServer(async (request, response) => {
  try {
    reported(await verifyWebhook(await buffer(request), request.headers, secret));
    response.writeHead(204).end();
  } catch (error) {
    console.error(error.message);
    response.writeHead(401).end();
  }
}).listen(0, "127.0.0.1");
await once(receiver, "listening");

const client = new SandboxClient();
const sandbox = await client.sandboxes.create({ template: "code-interpreter", timeoutSeconds: 300 });
try {
  const address = `http://127.0.0.1:${receiver.address().port}/reports`;
  await sandbox.executeAsync("print(sum(range(101)))", address, { callbackSecret: secret });
  const { status, stdout } = await report;
  console.log(`It is ${status}, and printed ${stdout.trim()}.`);
} finally {
  await sandbox.delete();
  await client.close();
  receiver.close();
}
