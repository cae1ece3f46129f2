/** The variables with which a program sees what it would see on macOS; see `as-macos.mjs`. */
export const asMacos = { NODE_OPTIONS: `--import=${new URL("./as-macos.mjs", import.meta.url)}` } as const;
