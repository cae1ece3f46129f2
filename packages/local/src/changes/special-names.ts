import * as names from "@cloud-sandbox/server-kit/changes";
import { type BytePath, textOf } from "./byte-path.js";

/** Whether a path is the version control's on any file system. */
export const isVersionControl = (path: BytePath): boolean => names.isVersionControl(textOf(path));
