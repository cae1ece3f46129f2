import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { summarize } from "../measure.mjs";

const exec = promisify(execFile);
const image = "python:3-slim";
const name = "docker run --rm, the same program";

/** Measures a new container for each program. Skipped if Docker does not run or lacks the image. */
export async function dockerRun(rounds) {
  try {
    await exec("docker", ["image", "inspect", image]);
  } catch (error) {
    return { name, skipped: reasonOf(error) };
  }
  const took = [];
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await exec("docker", ["run", "--rm", "--network", "none", image, "python3", "-c", "print(1)"]);
    took.push(performance.now() - started);
  }
  const { median, p95 } = summarize(took);
  return { name, unit: "ms", subject: median, p95 };
}

function reasonOf({ code, stderr }) {
  if (code === "ENOENT") return 'Docker is not installed: "apt-get install docker.io"';
  if (/no such image/i.test(stderr)) return `Docker has no image ${image}: "docker pull ${image}"`;
  return "Docker does not answer: start dockerd, or set DOCKER_HOST";
}
