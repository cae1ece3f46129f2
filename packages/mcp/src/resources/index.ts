/** All resources and resource templates, in the order in which clients list them. */
import type { Registration, ResourceList } from "../session/profile.js";
import { listing } from "./listing.js";
import { sandboxFiles } from "./sandbox-files.js";
import { listSandboxes, sandboxes } from "./sandboxes.js";
import { listTemplates, templates } from "./templates.js";
import { listView, view } from "./view.js";

export const resources: readonly Registration[] = [templates, sandboxes, sandboxFiles, view, listing];

/** What `resources/list` returns: the client's sandboxes first, then the account's templates. */
export const resourceLists: readonly ResourceList[] = [listSandboxes, listTemplates, listView];
