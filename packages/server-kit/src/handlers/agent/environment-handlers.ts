import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import { type VariableValues, withMasks } from "./variable-values.js";

/**
 * The operations on a sandbox's environment variables. A change is answered only after `save` has finished.
 * `inherited`: the variables that programs get unless the sandbox's own override them.
 */
export function environmentHandlers(
  variables: VariableValues,
  save: () => Promise<void> | void,
  inherited?: Readonly<Record<string, string>>,
) {
  const answer = () => ({ env_vars: variables.shown(), count: variables.count, timestamp: now() });
  const changed = async () => {
    await save();
    return answer();
  };
  return {
    getEnvironment() {
      if (!inherited) return answer();
      // The vendor's clients know env_vars only, and expect to find PATH and HOME in it.
      const masked = withMasks(inherited);
      return { ...answer(), env_vars: { ...masked, ...variables.shown() }, inherited: masked };
    },

    replaceEnvironment({ body }) {
      if (body.merge) variables.merge(body.env_vars);
      else variables.replace(body.env_vars);
      return changed();
    },

    mergeEnvironment({ body }) {
      variables.merge(body.env_vars);
      return changed();
    },

    clearEnvironment() {
      variables.clear();
      return changed();
    },

    deleteEnvironmentVariable({ params }) {
      variables.delete(params.key);
      return changed();
    },
  } satisfies AnyAgentHandlers;
}
