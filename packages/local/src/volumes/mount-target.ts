import { Problem } from "@cloud-sandbox/server-kit";

/** Directories of the root that the system needs as they are. */
const systemDirectories =
  /^\/(bin|boot|dev|etc|lib[^/]*|proc|root|run|sbin|sys|tmp|usr|var|opt\/(cloud-sandbox|node))(\/|$)/;
/** Directories below which volumes can be mounted, but not at them. */
const parents = ["/home", "/home/sandbox", "/mnt", "/opt", "/srv"];
const longestTarget = 256;

/** Throws a 400 problem unless volumes can be mounted at these paths of a sandbox. */
export function checkTargets(targets: readonly string[]): void {
  for (const target of targets) {
    const reason = refusal(target);
    if (reason !== undefined)
      throw invalidMount(`${JSON.stringify(target.slice(0, 80))} cannot be mounted: ${reason}.`);
    const outer = targets.find((other) => target.startsWith(`${other}/`));
    if (outer !== undefined) throw invalidMount(`The mount ${target} lies in another one, ${outer}.`);
  }
}

function refusal(target: string): string | undefined {
  if (!/^(\/[\w.@+-]+)+$/.test(target) || target.length > longestTarget)
    return "the path must begin with a slash, end without one, and have letters, digits and . _ - + @ only";
  if (/\/\.\.?(\/|$)/.test(target)) return "it must not lead through the directories . and ..";
  if (systemDirectories.test(target)) return "the system of the sandbox uses this directory";
  if (parents.includes(target)) return "only directories below it can be mounted";
  if (target.startsWith("/home/") && !target.startsWith("/home/sandbox/"))
    return "the home directory is /home/sandbox";
  return undefined;
}

export function invalidMount(message: string): Problem {
  return new Problem(400, "INVALID_REQUEST", message, {
    hint: "Mount at a path such as /data, /workspace/data or /home/sandbox/.cache.",
  });
}
