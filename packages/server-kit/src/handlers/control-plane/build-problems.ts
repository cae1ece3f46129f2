import { Problem } from "../../http/problem.js";

export const invalidBuild = (summary: string, hint?: string): Problem =>
  new Problem(400, "INVALID_REQUEST", summary, { hint });

export const buildNotFound = (): Problem =>
  new Problem(
    404,
    "BUILD_NOT_FOUND",
    "There is no build with that id. Use the build's id or its template's id.",
  );

export const templateNameTaken = (name: string): Problem =>
  new Problem(409, "CONFLICT", `A template named ${JSON.stringify(name)} exists already.`, {
    hint: 'Choose another name for the template, or replace the existing template with "update": true.',
  });

export const noTemplateToUpdate = (name: string): Problem =>
  new Problem(404, "TEMPLATE_NOT_FOUND", `There is no template named ${JSON.stringify(name)} to update.`, {
    hint: 'Leave "update" out to build a new template.',
  });

export const templateNameIsNumber = (name: string): Problem =>
  invalidBuild(
    `A template cannot be named ${name}, because numbers are ids of templates.`,
    "Put a letter into the template's name.",
  );

export const templateIsPublic = (name: string): Problem =>
  new Problem(403, "FORBIDDEN", `Template ${name} comes with this server and cannot be changed or deleted.`, {
    hint: "Build a template with another name.",
  });

export const templateIsBuilt = (name: string): Problem =>
  new Problem(409, "CONFLICT", `Template ${name} is being built.`, {
    hint: "Wait until the template's build has ended.",
  });

export const templateNotReady = (name: string, status: string): Problem =>
  new Problem(409, "CONFLICT", `Template ${name} cannot be used: it is ${status}.`, {
    hint:
      status === "building"
        ? "Wait until the template's build has ended."
        : 'Build the template again, with "update": true.',
  });

export const templateDoesNotStart = (name: string, reason: string): Problem =>
  new Problem(
    409,
    "CONFLICT",
    `Sandboxes of template ${name} do not become ready: ${reason.replace(/\.?$/, ".")}`,
    { hint: 'Build the template again, with "update": true.' },
  );

export const noRoomForLayers = (): Problem =>
  new Problem(507, "STORAGE_FULL", "This machine's disk is nearly full, so no template can be built.", {
    hint: "Delete templates that are no longer needed, or give the server another --data-dir.",
  });

export const tooManyBuilds = (limit: number): Problem =>
  new Problem(429, "RESOURCE_LIMIT_ERROR", `At most ${limit} builds may be running or waiting at a time.`, {
    hint: "Try again when one of the builds has ended.",
    details: { limit },
  });
