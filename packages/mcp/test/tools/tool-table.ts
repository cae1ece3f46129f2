/** A call of every tool that works without a desktop, in an order in which each finds what it needs. */

/** The results of earlier calls, by tool. */
export type Answers = Readonly<Record<string, Record<string, unknown>>>;

type Arguments = Record<string, unknown> | ((answers: Answers) => Record<string, unknown>);

const inSandbox =
  (given: Record<string, unknown> = {}) =>
  ({ create_sandbox }: Answers) => ({ sandbox_id: create_sandbox?.id, ...given });
const onSandbox =
  (given: Record<string, unknown> = {}) =>
  ({ create_sandbox }: Answers) => ({ id: create_sandbox?.id, ...given });

export const toolTable: ReadonlyArray<readonly [tool: string, given: Arguments]> = [
  ["health", {}],
  ["list_templates", {}],
  ["get_template", { name: "code-interpreter" }],
  ["execute_code_isolated", { code: "print(6 * 7)" }],
  ["create_sandbox", { timeout_seconds: 300 }],
  ["list_sandboxes", {}],
  ["get_sandbox", onSandbox()],
  ["call_api", { method: "GET", path: "/v1/sandboxes" }],
  ["execute_code", inSandbox({ code: "print(1)" })],
  ["execute_code_persistent", inSandbox({ code: "print(1)" })],
  ["execute_code_rich", inSandbox({ code: "1 + 1" })],
  ["execute_code_background", inSandbox({ code: "print(2)" })],
  ["execute_code_async", inSandbox({ code: "print(3)", callback_url: "https://callback.invalid/done" })],
  ["execute_list_processes", inSandbox()],
  [
    "execute_process_output",
    ({ create_sandbox, execute_code_background }) => ({
      sandbox_id: create_sandbox?.id,
      process_id: execute_code_background?.process_id,
    }),
  ],
  ["run_command", inSandbox({ command: "echo hello" })],
  ["run_command_background", inSandbox({ command: "sleep 60" })],
  [
    "execute_kill_process",
    ({ create_sandbox, run_command_background }) => ({
      sandbox_id: create_sandbox?.id,
      process_id: run_command_background?.process_id,
    }),
  ],
  ["list_processes", inSandbox()],
  ["file_mkdir", inSandbox({ path: "/workspace/made" })],
  ["file_write", inSandbox({ path: "/workspace/made/a.txt", content: "text" })],
  ["file_read", inSandbox({ path: "/workspace/made/a.txt" })],
  ["file_list", inSandbox({ path: "/workspace/made" })],
  ["file_exists", inSandbox({ path: "/workspace/made/a.txt" })],
  ["file_remove", inSandbox({ path: "/workspace/made" })],
  ["env_set", inSandbox({ env_vars: { NAME: "value" } })],
  ["env_get", inSandbox()],
  ["env_clear", inSandbox()],
  ["get_system_metrics", inSandbox()],
  ["get_vm_info", inSandbox()],
  ["ping_vm", inSandbox()],
  ["cache_stats", inSandbox()],
  ["cache_clear", inSandbox()],
  ["get_preview_url", inSandbox({ port: 8080 })],
  ["get_agent_url", inSandbox()],
  ["update_sandbox_timeout", onSandbox({ timeout_seconds: 120 })],
  ["pause_sandbox", onSandbox()],
  ["resume_sandbox", onSandbox()],
  ["delete_sandbox", onSandbox()],
];
