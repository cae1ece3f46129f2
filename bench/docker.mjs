import { execFile } from "node:child_process";
import { promisify } from "node:util";

const exec = promisify(execFile);
/** Options of a container that has what a sandbox has of the network. */
const apart = ["--network", "none"];

/** Why there are no containers of an image here. Undefined if there are. */
export async function dockerObstacle(image) {
  try {
    await exec("docker", ["image", "inspect", image]);
    return undefined;
  } catch (error) {
    return reasonOf(error, image);
  }
}

function reasonOf({ code, stderr }, image) {
  if (code === "ENOENT") return 'Docker is not installed: "apt-get install docker.io"';
  if (/no such image/i.test(stderr)) return `Docker has no image ${image}: "docker pull ${image}"`;
  return "Docker does not answer: start dockerd, or set DOCKER_HOST";
}

/** Why the daemon starts no containers with gVisor. Undefined if it does. */
export async function gvisorObstacle(image) {
  return exec("docker", ["run", "--rm", ...apart, "--runtime", "runsc", image, "ls", "/"]).then(
    () => undefined,
    ({ stderr }) => `the daemon has no runtime runsc that starts containers: ${stderr.trim().split("\n")[0]}`,
  );
}

/** Runs a program in a new container, to its end. */
export async function runContainer(image, ...program) {
  await exec("docker", ["run", "--rm", ...apart, image, ...program]);
}

/** Starts a container. Resolves with a function that removes it. */
export async function startContainer(image) {
  const { stdout } = await exec("docker", ["run", "--detach", "--init", ...apart, image, "sleep", "600"]);
  const id = stdout.trim();
  return async () => {
    await exec("docker", ["rm", "--force", id]);
  };
}

/** Writes an image with all its layers into a file. */
export async function saveImage(image, file) {
  await exec("docker", ["save", "--output", file, image]);
}
