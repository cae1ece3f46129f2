import { startDockerServer } from "../support/docker/docker-server.js";
import { escaping, staying } from "./escaping.js";
import { exhausting } from "./exhausting.js";
import { hostileSuite } from "./hostile-suite.js";
import { kernel } from "./kernel.js";
import { mounting } from "./mounting.js";
import { reading, readingThroughFiles } from "./reading.js";
import { finding, sharing } from "./sharing.js";
import { takingFromTheKernel } from "./taking-from-the-kernel.js";
import { takingOver } from "./taking-over.js";

/**
 * Attacks on what bubblewrap's machines are made of, which containers do not have. What holds here in their place is tested
 * in test/docker.
 */
export const notInContainers: Readonly<Record<string, string>> = {
  "read the host's files": "names directories of the host, and an image has some of these names",
  "learn about the host from the kernel's files": "Docker hides files behind /dev/null, which can be opened",
  "make system calls that programs do not need": "the errors of sockets differ",
  "find a file system that the host or another sandbox has too":
    "the host sees the file systems of containers",
  "watch which files the host and other sandboxes open": "no file is of the host",
  "lock files that the host and other sandboxes use": "no file is of the host",
  "become the agent by replacing what it is made of": "the root is read-only, and has no file of that name",
  "run anything as somebody else": "there is a supervisor too",
  "make files without end, which take memory of the host's kernel": "the root is read-only",
  "have the agent wait at pipes in the place of files that it reads": "the root is read-only",
};

/** What Docker lets code take of the kernel. */
const notFromTheKernel: Readonly<Record<string, string>> = {
  "take every terminal of the host": "Docker mounts the terminals of containers without a limit of their own",
  "have each crash start a program of the host":
    "a profile of Docker cannot keep code from setting the size of core files",
  "take every instance of inotify of the user who started it":
    "code in all containers is the same user of the host",
};

interface HostileContainers {
  /** Where the code is, to go on after "hostile code, ". */
  readonly place: string;
  /** Why there are no such containers here. */
  readonly obstacle: string | undefined;
  readonly args?: readonly string[];
  /** The attacks that are left out beside those of {@link notInContainers}, each with the reason. */
  readonly notHere?: Readonly<Record<string, string>>;
  /** Whether processes inside are counted. Default: true. */
  readonly countsProcesses?: boolean;
}

/** Makes the attacks from sandboxes that are containers. */
export function hostileContainers({ args = [], notHere, ...suite }: HostileContainers): void {
  hostileSuite({
    ...suite,
    start: (options) => startDockerServer({ ...options, args: [...options.args, ...args] }),
    ...{ isRoot: true, agentIsApart: true, codeIsRoot: false },
    attacks: [
      ...[...reading, ...kernel, ...finding, ...escaping, ...readingThroughFiles, ...sharing, ...staying],
      ...[...takingOver, ...mounting, ...exhausting, ...takingFromTheKernel],
    ],
    notHere: { ...notInContainers, ...notFromTheKernel, ...notHere },
  });
}
