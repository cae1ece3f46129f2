import type { EnvironmentVariables } from "../environment-variables.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

export function environmentHandlers(variables: EnvironmentVariables) {
  const answer = () => ({ env_vars: variables.shown(), count: variables.count, timestamp: now() });
  const changed = async () => {
    await variables.save();
    return answer();
  };
  return {
    getEnvironment: answer,

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
  } satisfies AgentHandlers;
}
