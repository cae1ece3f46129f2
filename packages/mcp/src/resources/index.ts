/** What can be browsed: each resource and resource template, in the order in which they are listed. */
import type { Registration } from "../session/profile.js";
import { listing } from "./listing.js";
import { sandboxFiles } from "./sandbox-files.js";
import { sandboxes } from "./sandboxes.js";
import { templates } from "./templates.js";
import { view } from "./view.js";

export const resources: readonly Registration[] = [templates, sandboxes, sandboxFiles, view, listing];
