import { Problem } from "../../http/problem.js";

/** The stored facts about a sandbox that no longer exists, so that a request for it gets the reason. */
export interface EndedSandbox {
  readonly id: string;
  readonly end: "deleted" | "expired";
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export function sandboxNotFound(id: string): Problem {
  return new Problem(404, "SANDBOX_NOT_FOUND", `Sandbox ${printable(id)} not found.`, {
    hint: "List sandboxes to see those that exist, or create one.",
  });
}

export function sandboxEnded({ id, end, createdAt, expiresAt }: EndedSandbox): Problem {
  if (end === "deleted") {
    return new Problem(404, "SANDBOX_NOT_FOUND", `Sandbox ${id} not found: it was deleted.`, {
      hint: "Create a new sandbox.",
    });
  }
  return new Problem(
    410,
    "SANDBOX_EXPIRED",
    `Sandbox ${id} expired at ${expiresAt.toISOString()}, when its lifetime ended.`,
    {
      hint: "Create a new sandbox, with a longer timeout_seconds if you need more time.",
      details: { sandbox_id: id, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() },
    },
  );
}

export function sandboxFailed({
  id,
  failureReason,
}: {
  readonly id: string;
  readonly failureReason: string | undefined;
}): Problem {
  return new Problem(410, "SANDBOX_FAILED", `Sandbox ${id} has failed. ${failureReason ?? ""}`.trimEnd(), {
    hint: "Delete the sandbox and create a new one.",
    details: { sandbox_id: id },
  });
}

export function sandboxPaused(id: string): Problem {
  return new Problem(409, "SANDBOX_PAUSED", `Sandbox ${id} is paused.`, {
    hint: "Resume the sandbox first.",
    details: { sandbox_id: id },
  });
}

export function sandboxStopped(id: string): Problem {
  return new Problem(409, "SANDBOX_STOPPED", `Sandbox ${id} is stopped.`, {
    hint: "Start the sandbox first.",
    details: { sandbox_id: id },
  });
}

export function sandboxCreating(id: string): Problem {
  return new Problem(409, "SANDBOX_CREATING", `Sandbox ${id} is being started.`, {
    hint: "Try again in a moment.",
    details: { sandbox_id: id },
  });
}

export function nameTaken(name: string): Problem {
  const message = `A sandbox named ${printable(name)} exists already.`;
  return new Problem(409, "CONFLICT", message, {
    hint: "Use the sandbox that has the name, for example with get_or_create, or choose another name.",
  });
}

/** The sandbox with that name was made from another template than the one requested. */
export function otherTemplate(name: string, template: string): Problem {
  const message = `The sandbox named ${printable(name)} is of template ${template}.`;
  return new Problem(409, "CONFLICT", message, {
    hint: "Ask for the template of the sandbox that has the name, or choose another name.",
  });
}

export function templateNotFound(nameOrId: string, known: readonly string[], hint?: string): Problem {
  return new Problem(
    404,
    "TEMPLATE_NOT_FOUND",
    `Template ${printable(nameOrId)} not found. Templates here: ${known.join(", ")}.`,
    { hint },
  );
}

/** A caller's text made safe to repeat in a message: printable ASCII, at most 80 characters, quoted. */
function printable(text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, "?");
  return JSON.stringify(clean.length > 80 ? `${clean.slice(0, 80)}…` : clean);
}
