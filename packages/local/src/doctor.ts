import {
  type AuthoritiesReport,
  describeAuthorities,
  examineAuthorities,
} from "./authorities/authorities-report.js";
import { missingDesktopPackages } from "./catalogue/desktop-packages.js";
import { findHostLanguages } from "./catalogue/host-languages.js";
import { installedPackages, missingPackages } from "./catalogue/installed-packages.js";
import { describeEgress, type EgressReport, examineEgress } from "./egress/egress-report.js";
import type { LocalControlPlaneOptions } from "./local-control-plane-options.js";
import { forgetTrials } from "./runtime/host/host-trial.js";
import type { HostLanguage } from "./runtime/language-tools.js";
import type { RuntimeReport } from "./runtime/sandbox-runtime.js";
import { dockerImages, dockerRuntime, probeRuntimes } from "./runtimes.js";
import { defaultMemoryOvercommit, hostMemoryMb } from "./sandboxes/memory-budget.js";

/** The result of `doctor`: what this machine can run. */
export interface DoctorReport {
  /** Whether sandboxes can be started here. */
  readonly usable: boolean;
  readonly runtimes: readonly RuntimeReport[];
  readonly languages: readonly HostLanguage[];
  /** The packages that bubblewrap's sandboxes have besides, and those that people expect and they lack. */
  readonly packages: { readonly installed: readonly string[]; readonly missing: readonly string[] };
  /** The packages that bubblewrap's template `desktop` lacks. Without some of them, there is no such template. */
  readonly desktop: { readonly missing: readonly string[] };
  readonly egress: EgressReport;
  readonly authorities: AuthoritiesReport;
  readonly memory: {
    /** Memory of this machine, in MiB. */
    readonly totalMb: number;
    /** All sandboxes together may use `totalMb` times this factor for memory and files. `serve --memory-overcommit` sets it. */
    readonly overcommit: number;
  };
}

/** Finds out which runtimes work on this machine, how well they isolate, and how to fix what is missing. Tries everything anew, and changes nothing. `trustCa`: as for `startLocalControlPlane`. */
export async function examineHost({
  trustCa,
}: Pick<LocalControlPlaneOptions, "trustCa"> = {}): Promise<DoctorReport> {
  const authorities = examineAuthorities(trustCa);
  await forgetTrials();
  const [runtimes, languages, egress, installed] = await Promise.all([
    probeRuntimes({ dockerImages: dockerImages(), dockerRuntime: dockerRuntime() }),
    findHostLanguages(),
    examineEgress(),
    installedPackages(),
  ]);
  const memory = { totalMb: hostMemoryMb(), overcommit: defaultMemoryOvercommit };
  return {
    usable: runtimes.some(({ usable }) => usable),
    runtimes,
    languages,
    packages: { installed, missing: missingPackages(installed) },
    desktop: { missing: missingDesktopPackages() },
    egress,
    authorities,
    memory,
  };
}

/** The report as lines for people. */
export function describeHost({
  usable,
  runtimes,
  languages,
  packages,
  desktop,
  egress,
  authorities,
  memory,
}: DoctorReport): string {
  const lines = runtimes.flatMap((report) => {
    if (!report.usable) return [`✗ ${report.runtime}: ${report.reason}`, `  To fix it: ${report.fix}`];
    return [
      `✓ ${report.runtime} ${report.version}: isolation "${report.isolation}"`,
      ...report.enforcement.map(
        ({ limit, by }) => `  ${limit}: ${by === "none" ? "not limited" : `held by ${by}`}`,
      ),
      "  network: only the sandbox's own loopback, and the proxy to the internet",
      ...report.remarks.map((remark) => `  ! ${remark}`),
    ];
  });
  const own = languages.map(({ language, version }) => `${language} ${version}`).join(", ") || "none";
  const hasOwn = !usable || runtimes.some((report) => report.usable && report.runtime === "bubblewrap");
  const found = hasOwn ? own : "those of the image";
  return [
    ...lines,
    `Languages: ${found}`,
    ...(hasOwn ? [...describePackages(packages), describeDesktop(desktop)] : []),
    ...describeEgress(egress),
    ...describeAuthorities(authorities),
    `Memory: sandboxes may use ${memory.overcommit} times the ${memory.totalMb} MiB of this machine together, files included (--memory-overcommit)`,
    usable ? "Sandboxes can be started here." : "No sandbox can be started here.",
  ].join("\n");
}

function describeDesktop({ missing }: DoctorReport["desktop"]): string {
  if (missing.length === 0) return "Template desktop: all its packages are there";
  return `Template desktop: missing are ${missing.join(", ")} ("cloud-sandbox-local setup desktop" installs them)`;
}

function describePackages({ installed, missing }: DoctorReport["packages"]): string[] {
  return [
    `Packages: ${installed.join(", ") || "none"}`,
    ...(missing.length > 0
      ? [
          `  ! missing: ${missing.join(", ").replaceAll("_", "-")} ("cloud-sandbox-local setup" installs them)`,
        ]
      : []),
  ];
}
