import { once } from "node:events";
import type { PortForward, SandboxError } from "cloud-sandbox";
import { type Command, InvalidArgumentError } from "commander";
import { action } from "../../command-line/action.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { failed } from "../../errors/command-error.js";
import { explain } from "../../errors/explain-error.js";

interface ForwardOptions {
  readonly address: string;
}

/** A port of this machine, 0 for any free one, and the port of the sandbox that it leads to. */
interface Ports {
  readonly localPort: number;
  readonly port: number;
}

export function addForward(parent: Command): void {
  const command = subcommand(
    parent,
    "forward <id>",
    "forward ports of this machine to ports in a sandbox, until Ctrl-C",
  )
    .argument(
      "<[local:]port...>",
      "port in the sandbox, behind the port of this machine if that is another; 0 for any free one",
      portsOf,
    )
    .option("--address <address>", "address of this machine to listen on", "127.0.0.1")
    .action(
      action<ForwardOptions, [string, Ports[]]>(
        async ({ options, output, sandbox, signal }, word, wanted) => {
          const { id, ports } = await sandbox(word);
          const onError = (error: SandboxError): void => output.problem(explain(error));
          const opened: PortForward[] = [];
          for (const { localPort, port } of wanted) {
            const forward = await ports.forward(port, { localPort, localHost: options.address, onError });
            opened.push(forward);
            const { localHost } = forward;
            if (output.isJson) output.json({ id, port, localHost, localPort: forward.localPort });
            else output.line(`${hostIn(localHost)}:${forward.localPort} leads to port ${port} of ${id}`);
          }
          const interrupted = once(signal, "abort").then(() => signal.throwIfAborted());
          await Promise.race([interrupted, ...opened.map(({ closed }) => closed)]);
          // A port closes by itself only when a connection has found that the sandbox has ended, which was printed.
          return failed;
        },
      ),
    );
  examples(
    command,
    "cloud-sandbox sandbox forward mine 5432",
    "cloud-sandbox sandbox forward mine 8080:80 9229",
  );
}

/** Collects [LOCAL:]PORT. */
function portsOf(text: string, others: readonly Ports[] = []): Ports[] {
  const [, local, inside] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(inside);
  const localPort = Number(local ?? inside);
  if (port >= 1 && port <= 65_535 && localPort <= 65_535) return [...others, { localPort, port }];
  throw new InvalidArgumentError("The value must be PORT or LOCAL:PORT, each up to 65535, as in 8080:80.");
}

const hostIn = (address: string): string => (address.includes(":") ? `[${address}]` : address);
