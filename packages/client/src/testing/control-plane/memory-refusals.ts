import { Problem } from "@cloud-sandbox/server-kit/portable";

export const noVolumes = (): Problem =>
  new Problem(400, "VOLUMES_UNAVAILABLE", "The testing service has no volumes.", {
    hint: "Leave mounts out, or test against a local server.",
  });

export const asksNobody = (): Problem =>
  new Problem(400, "INVALID_REQUEST", "The testing service asks nobody: no program of it waits for a host.", {
    hint: "Leave egress.ask out, or test against a local server.",
  });
