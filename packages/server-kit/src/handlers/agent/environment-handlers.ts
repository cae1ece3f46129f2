import { type AnyAgentHandlers, now } from "./agent-handlers.js";
import { type VariableValues, withMasks } from "./variable-values.js";

/** `save` is waited for before a change is told; `inherited` is what programs get where no variable says otherwise. */
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
    getEnvironment: () => ({ ...answer(), ...(inherited && { inherited: withMasks(inherited) }) }),

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
