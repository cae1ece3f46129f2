import { dockerObstacle, runContainer } from "../docker.mjs";
import { summarize } from "../measure.mjs";

const image = "python:3-slim";
const name = "docker run --rm, the same program";

/** Measures a new container for each program. Skipped if Docker does not run or lacks the image. */
export async function dockerRun(rounds) {
  const skipped = await dockerObstacle(image);
  if (skipped !== undefined) return { name, skipped };
  const took = [];
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await runContainer(image, "python3", "-c", "print(1)");
    took.push(performance.now() - started);
  }
  const { median, p95 } = summarize(took);
  return { name, unit: "ms", subject: median, p95 };
}
