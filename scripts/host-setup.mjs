/** Installs on this machine what sandboxes and tests need, where that is possible. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { canInstall, clusterPackages, installSentence, isDebian12, missingOf } from "./host-packages.mjs";

/**
 * Installs those of the packages that are missing. `step` runs a command under a title, and throws if it fails. Resolves with
 * sentences about those that are still missing, which say what to do.
 */
export async function installOnHost(packages, step) {
  const missing = missingOf(packages);
  const ofRelease = missing.filter(({ suite }) => suite === undefined);
  const newer = missing.filter(({ suite }) => suite !== undefined);
  if (!canInstall()) return ofRelease.length > 0 ? [`Missing here: ${installSentence(ofRelease)}`] : [];
  const problems = ofRelease.length > 0 ? await installOfRelease(ofRelease, step) : [];
  for (const { debian, suite } of newer) {
    const installing = step(`Installing ${debian} of ${suite}`, ["scripts/install-from", suite, debian]);
    await installing.catch((error) => problems.push(error.message));
  }
  return problems;
}

/** Installs packages of this system's release. */
async function installOfRelease(packages, step) {
  const apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"];
  const install = (some) => {
    const names = some.map(({ debian }) => debian);
    return step(`Installing with apt-get, which can take some minutes: ${names.join(" ")}`, [
      ...[...apt, "install", "-y", "--no-install-recommends"],
      ...names,
    ]);
  };
  if (await succeeds(install(packages))) return [];
  // An installation that was ended half-way keeps dpkg from every other one.
  if (readdirSync("/var/lib/dpkg/updates").length > 0)
    await succeeds(step("Finishing earlier installations", ["dpkg", "--configure", "-a"]));
  try {
    await step("Refreshing the lists of packages", [...apt, "update"]);
  } catch ({ message }) {
    return [message, `Missing here: ${installSentence(packages)}`];
  }
  if (await succeeds(install(packages))) return [];
  // A package that this system lacks keeps back all others.
  const problems = [];
  for (const one of packages) await install([one]).catch(({ message }) => problems.push(message));
  return problems;
}

const succeeds = (step) =>
  step.then(
    () => true,
    () => false,
  );

/** Whether the programs of Kubernetes are there. kubectl is built last; the other file says that custom resources work: see the build. */
export function hasKubernetes() {
  const programs = process.env.KUBERNETES_BIN || join(homedir(), ".cache", "kubernetes-1.20.2");
  return ["kubectl", "custom-resources"].every((file) => existsSync(join(programs, file)));
}

/**
 * Brings the programs of Kubernetes, and Helm, for which Debian has no packages. Resolves with sentences about what failed: where
 * they cannot be built at all, that is no failure, and their tests are skipped.
 */
export async function setUpKubernetes(step) {
  const isBuilt = hasKubernetes();
  if (!isBuilt && !(canInstall() && isDebian12())) {
    console.log("Kubernetes: its tests are skipped, because only root on Debian 12 can build its programs.");
    return [];
  }
  const problems = await installOnHost(clusterPackages, step);
  const attempt = (title, command) => step(title, command).catch(({ message }) => problems.push(message));
  const limited = ["timeout", "--kill-after=30s", "20m"];
  if (!isBuilt)
    await attempt("Building Kubernetes, which takes 9 minutes on two processors", [
      ...limited,
      "test/support/kubernetes/build",
    ]);
  if (process.arch === "x64") await attempt("Getting Helm", ["test/support/kubernetes/get-helm"]);
  return problems;
}
