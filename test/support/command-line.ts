import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { type Ended, runBuilt, runBuiltForBytes } from "./built-program.js";
import { type LocalServer, startLocalServer } from "./local-server.js";

/** The built `cloud-sandbox` command, a server for it, and a directory of its own for settings and files. */
export interface CommandLine {
  readonly client: SandboxClient;
  readonly directory: string;
  /** The variables that the command needs: the server's address, its key, and where settings are stored. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command to its end. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** As `run`, with the output as bytes. */
  bytes(args: readonly string[], input?: Uint8Array): Promise<Ended<Buffer>>;
  /** Runs a command. Throws if it fails or writes to stderr. Resolves with its stdout. */
  output(...args: string[]): Promise<string>;
  /** Runs a command with `--json`. Resolves with the JSON document that it prints. */
  json(...args: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startCommandLine(args: readonly string[] = []): Promise<CommandLine> {
  const server: LocalServer = await startLocalServer({ args: ["--pool", "1", ...args] });
  const directory = await mkdtemp(join(tmpdir(), "command-line-"));
  const client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
  const env = {
    CLOUD_SANDBOX_API_KEY: server.apiKey,
    CLOUD_SANDBOX_BASE_URL: server.url,
    XDG_CONFIG_HOME: directory,
  };
  const run = (words: readonly string[], input = ""): Promise<Ended> =>
    runBuilt("cli", words, { env, input });
  const output = async (...words: string[]): Promise<string> => {
    const { code, stderr, stdout } = await run(words);
    if (code !== 0 || stderr !== "") throw new Error(`${words.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  };
  return {
    client,
    directory,
    env,
    run,
    bytes: (words, input = new Uint8Array()) => runBuiltForBytes("cli", words, { env, input }),
    output,
    json: async (...words) => JSON.parse(await output(...words, "--json")),
    async stop() {
      await client.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
