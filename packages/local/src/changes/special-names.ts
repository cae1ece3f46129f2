import * as names from "@cloud-sandbox/server-kit/changes";
import { type BytePath, textOf } from "./byte-path.js";

/** Whether a path is the version control's on any file system. */
export const isVersionControl = (path: BytePath): boolean => names.isVersionControl(textOf(path));

/** Whether programs of the host may run what is at a path by themselves. */
export const mayRunByItself = (path: BytePath): boolean => names.mayRunByItself(textOf(path));
