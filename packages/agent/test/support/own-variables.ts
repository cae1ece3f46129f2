/** The variables of an answer to GET /env that programs do not inherit anyway. */
export function ownVariables({ body }: { readonly body: object }): Record<string, string> {
  const { env_vars, inherited } = body as Record<"env_vars" | "inherited", Record<string, string>>;
  return Object.fromEntries(Object.entries(env_vars).filter(([name, value]) => inherited[name] !== value));
}
