/** All resources and resource templates, in the order in which clients list them. */
import type { Registration } from "../session/profile.js";
import { listing } from "./listing.js";
import { sandboxFiles } from "./sandbox-files.js";
import { sandboxes } from "./sandboxes.js";
import { templates } from "./templates.js";
import { view } from "./view.js";

export const resources: readonly Registration[] = [templates, sandboxes, sandboxFiles, view, listing];
