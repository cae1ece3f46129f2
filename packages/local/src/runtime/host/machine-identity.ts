import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";

/** Identifies this machine, and on Linux the list of processes that this one sees. It stays the same over a restart of the process. */
export function machineIdentity(): string {
  return process.platform === "linux"
    ? `${machineId()} ${readlinkSync("/proc/self/ns/pid")}`
    : hardwareIdentity();
}

function machineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return "";
  }
}

/** The hardware's UUID on macOS; empty if its command does not tell. */
function hardwareIdentity(): string {
  try {
    const listed = execFileSync("/usr/sbin/ioreg", ["-rd1", "-c", "IOPlatformExpertDevice"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return /"IOPlatformUUID" = "([^"]+)"/.exec(listed)?.[1] ?? "";
  } catch {
    return "";
  }
}
