import { Sandbox } from "@hopx-ai/sdk";

export interface VendorAccount {
  readonly apiKey: string;
  readonly baseURL: string;
}

/** Uses the vendor's SDK once with a server, wherever the caller is. Resolves with what the SDK told. */
export async function useVendorSdk(account: VendorAccount): Promise<object> {
  const sandbox = await Sandbox.create({ ...account, template: "base", timeoutSeconds: 600 });
  try {
    const run = await sandbox.runCode("print(6 * 7)");
    await sandbox.files.write("/workspace/note.txt", "übung\n");
    const command = await sandbox.commands.run("cat note.txt", { workingDir: "/workspace" });
    let streamed = "";
    for await (const frame of sandbox.runCodeStream("for i in range(3): print(i)"))
      if (frame.type === "stdout") streamed += frame.data;
    const listed = await Sandbox.list(account);
    return {
      code: run.stdout,
      file: await sandbox.files.read("/workspace/note.txt"),
      command: command.stdout,
      streamed,
      isListed: listed.some(({ sandboxId }) => sandboxId === sandbox.sandboxId),
    };
  } finally {
    await sandbox.kill();
  }
}

/** What {@link useVendorSdk} resolves with if all is well. */
export const vendorSdkWalk = {
  ...{ code: "42\n", file: "übung\n", command: "übung\n", streamed: "0\n1\n2\n", isListed: true },
};
