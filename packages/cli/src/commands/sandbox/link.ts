import { type Command, InvalidArgumentError } from "commander";
import { action } from "../../command-line/action.js";
import { lifetime } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";

interface LinkOptions {
  readonly upload?: boolean;
  readonly expires: number;
  readonly revoke?: boolean;
}

export function addLink(parent: Command): void {
  const command = subcommand(
    parent,
    "link <id> [port-or-file]",
    "print a link to a port or a file, for whoever has it",
  )
    .option("--upload", "a link to which a file is sent, as in curl -T FILE LINK")
    .option("--expires <time>", "how long it is valid, as in 90, 15m, 2h", lifetime, 3600)
    .option("--revoke", "revoke all links of the sandbox instead")
    .action(
      action<LinkOptions, [string, string | undefined]>(
        async ({ options, output, sandbox, signal }, word, target) => {
          const { id, ports, files } = await sandbox(word);
          if (options.revoke === true) {
            await ports.revoke({ signal });
            return output.isJson ? output.json({ id, revoked: true }) : output.note("its links are revoked.");
          }
          if (target === undefined) throw new InvalidArgumentError("Name a port or a file of the sandbox.");
          const { upload, expires: expiresInSeconds } = options;
          const link = { expiresInSeconds, signal };
          const url = /^\d+$/.test(target)
            ? await ports.previewUrl(Number(target), link)
            : await (upload === true ? files.uploadUrl(target, link) : files.downloadUrl(target, link));
          return output.isJson ? output.json({ id, url }) : output.line(url);
        },
      ),
    );
  examples(
    command,
    "cloud-sandbox sandbox link mine 8000 --expires 1h",
    'curl -T data.csv "$(cloud-sandbox sandbox link mine data.csv --upload)"',
  );
}
