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
  const masked = inherited && withMasks(inherited);
  /** Leaves out what programs inherit anyway: clients change a variable by writing back all that GET shows. */
  const withoutInherited = (values: Readonly<Record<string, string>>): Record<string, string> => {
    const own = variables.shown();
    const isOwn = ([name, value]: [string, string]) => Object.hasOwn(own, name) || masked?.[name] !== value;
    return Object.fromEntries(Object.entries(values).filter(isOwn));
  };
  const changed = async () => {
    await save();
    return answer();
  };
  return {
    getEnvironment() {
      // The vendor's clients know env_vars only, and expect to find PATH and HOME in it.
      return {
        ...answer(),
        ...(masked && { env_vars: { ...masked, ...variables.shown() }, inherited: masked }),
      };
    },

    replaceEnvironment({ body }) {
      if (body.merge) variables.merge(body.env_vars);
      else variables.replace(withoutInherited(body.env_vars));
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
