import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { startLocalControlPlane } from "cloud-sandbox-local";
import { compare } from "./measure.mjs";

/**
 * Measures `executeIsolated` against bubblewrap, which runs the same program with the same isolation and nothing else.
 */
export async function benchIsolated() {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  // bubblewrap mounts this directory as another user, because `hardened` drops root: that user must be able to write to
  // it.
  chmodSync(directory, 0o777);
  const backend = await startLocalControlPlane({ pool: 1 });
  const client = new SandboxClient({ apiKey: backend.apiKey, baseUrl: backend.url });
  try {
    const isolated = (code, language) => async () => {
      const { stdout } = await client.executeIsolated(code, { language });
      if (stdout !== "1\n") throw new Error(`Unexpected output: ${stdout}`);
    };
    const settle = () => new Promise((resolve) => setTimeout(resolve, 300));
    return [
      await compare({
        name: 'executeIsolated("print(1)") each 300 ms, over bubblewrap with python3',
        limit: 0.6,
        rounds: 40,
        floor: () => run(hardened(directory)),
        subject: isolated("print(1)", "python"),
        settle,
      }),
      await compare({
        name: 'executeIsolated("console.log(1)") each 300 ms, over bubblewrap with node',
        limit: 0.6,
        rounds: 30,
        floor: () => run(hardened(directory, ["node", "-e", "console.log(1)"])),
        subject: isolated("console.log(1)", "javascript"),
        settle,
      }),
    ];
  } finally {
    await client.close();
    await backend.close();
    rmSync(directory, { recursive: true });
  }
}

/**
 * A command that runs a program, which prints 1, in bubblewrap with the namespaces of a sandbox. As root it becomes another
 * user first, as the server does.
 */
// biome-ignore format: one flag group a line
export function hardened(directory, program = ["python3", "-c", "print(1)"]) {
  const drop = process.getuid() === 0 ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : [];
  return [
    ...drop, "bwrap",
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
    "--uid", "1000", "--gid", "1000", "--disable-userns", "--cap-drop", "ALL", "--new-session", "--die-with-parent",
    "--hostname", "sandbox",
    "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
    "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run", "--dir", "/etc",
    "--bind", directory, "/workspace", "--chdir", "/workspace", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin",
    ...program,
  ];
}

export function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: "/", stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}
