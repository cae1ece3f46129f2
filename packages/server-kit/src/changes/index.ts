/** What code has changed in a sandbox, for all servers. Nothing here needs Node.js. */

export {
  changeOnWire,
  hasNoCopy,
  noFileToCompare,
  requireWholePath,
  sinceTemplate,
  snapshotOfOtherSandbox,
} from "./change-answers.js";
export type { EntryType, FileChange } from "./file-change.js";
export {
  compareListings,
  type ListedEntry,
  type ListedFiles,
  UnequalListingsError,
} from "./listing-comparison.js";
export { isVersionControl, mayRunByItself } from "./special-names.js";
export { largestSide, type TextDiff, unifiedDiff } from "./unified-diff.js";
