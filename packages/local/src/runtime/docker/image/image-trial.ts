import { createHash } from "node:crypto";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { OfferedSystem } from "@cloud-sandbox/protocol";
import type Docker from "dockerode";
import type { FoundPrograms } from "../../container/toolkit/toolkit.js";
import { type HostLanguage, languagesIn, languageTools } from "../../language-tools.js";
import { systemNamedBy } from "../../system-release.js";
import { type Container, containerOptions } from "../container-options.js";
import { removeContainer } from "../engine/container-owner.js";
import { attach } from "../engine/container-streams.js";
import { fromDaemon } from "../engine/docker-engine.js";

const trialLimitMs = 60_000;
const mostOutput = 64 * 1024;
const limits = { memoryMb: 512, diskMb: 16, vcpu: 1, maxProcesses: 64 };

/** The programs and settings that a trial found in an image. */
export interface ImageFindings extends FoundPrograms {
  readonly languages: readonly HostLanguage[];
  readonly system?: OfferedSystem | undefined;
}

/** Prints sections, each behind a line `== NAME`. A program that hangs or fails leaves its section empty. */
const script = `
exec 2>&1 </dev/null
echo '== setpriv'; case "$(setpriv --help)" in *--securebits*) command -v setpriv;; esac
echo '== node-path'; node -p process.execPath
echo '== libraries'; for file in /lib*/ld-linux*.so.* /lib/*/libstdc++.so.6 /usr/lib*/libstdc++.so.6 /usr/lib/*/libstdc++.so.6
do [ -e "$file" ] && echo "$file"; done
echo '== system'; while IFS= read -r line; do echo "$line"; done </etc/os-release
${languageTools.map(({ program, args }) => `echo '== ${program}'; ${program} ${args.join(" ")}`).join("\n")}
`;

/** Changes when trials look for something else, so that the findings of older versions are not used. */
export const trialVersion = createHash("sha256").update(script).digest("hex").slice(0, 8);

/** Starts a shell in a container of the image, isolated as sandboxes are, and looks what the image has. */
export async function tryImage(
  docker: Docker,
  { image, name, daemon }: Pick<Container, "name" | "image" | "daemon">,
): Promise<ImageFindings> {
  const command = ["/bin/sh", "-c", script];
  const container = await fromDaemon(
    docker.createContainer(containerOptions({ name, image, command, limits, daemon })),
  );
  try {
    return await findings(sections(await outputOf(docker, container)));
  } finally {
    await removeContainer(docker, container.id);
  }
}

/** Returns the output of a container, when it has ended. */
export async function outputOf(docker: Docker, container: Docker.Container): Promise<string> {
  const carrier = await fromDaemon(attach(container));
  const output = new PassThrough();
  docker.modem.demuxStream(carrier, output, output);
  const giveUp = setTimeout(() => carrier.destroy(), trialLimitMs);
  try {
    for (const event of ["end", "close"]) carrier.once(event, () => output.end());
    carrier.on("error", () => undefined);
    let text = "";
    output.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.length > mostOutput) carrier.destroy();
    });
    const ended = once(output, "end");
    await fromDaemon(container.start());
    await ended;
    return text;
  } finally {
    clearTimeout(giveUp);
    carrier.destroy();
  }
}

function sections(output: string): (name: string) => string {
  const found = new Map(
    output
      .split(/^== /m)
      .slice(1)
      .map((section) => {
        const end = section.indexOf("\n");
        return [section.slice(0, end), section.slice(end + 1).trim()] as const;
      }),
  );
  if (!found.has("setpriv"))
    throw new Error(`its shell ended at once${output.trim() && `: ${output.trim().slice(-500)}`}`);
  return (name) => found.get(name) ?? "";
}

async function findings(section: (name: string) => string): Promise<ImageFindings> {
  const path = (name: string): string | undefined => /^\/[\w./+@-]{1,200}$/.exec(section(name))?.[0];
  const nodePath = path("node-path");
  const version = /^v(\d+\.\d+\.\d+)/.exec(section("node"))?.[1];
  const libraries = section("libraries");
  return {
    languages: await languagesIn(async (program) => section(program)),
    system: systemNamedBy(section("system")),
    setpriv: path("setpriv"),
    node: nodePath === undefined || version === undefined ? undefined : { path: nodePath, version },
    runsForeignNode: libraries.includes("/ld-linux") && libraries.includes("libstdc++"),
  };
}
