// Reports errors for the driver of JavaScript contexts. The driver takes the function and removes the global variable.
globalThis.__cloudSandboxErrors = () => {
  "use strict";
  // biome-ignore lint/suspicious/noShadowRestrictedNames: what the code declares anew would hold for this script too
  const { Reflect, String } = globalThis;
  const util = require("node:util");
  const longestText = 65536;

  // Errors are printed without the driver's own stack frames.
  function hideDriverFrames(error, depth = 0) {
    if (!util.types.isNativeError(error) || depth > 8) return;
    if (typeof error.stack === "string") {
      const start = error.stack.search(/\n +at (?:[^\n]*\()?(?:node:inspector|\[eval\]):/);
      // A frozen error keeps its stack.
      if (start >= 0) Reflect.set(error, "stack", error.stack.slice(0, start));
    }
    hideDriverFrames(error.cause, depth + 1);
  }

  /** The frame about the error that ends the code. `text` is what standard error says of it. */
  function exceptionFrame(error, text) {
    const isError = util.types.isNativeError(error);
    const texts = [isError ? error.name : typeof error, isError ? error.message : util.inspect(error), text];
    return texts.map((each) => String(each).slice(0, longestText).replaceAll("\0", "\ufffd")).join("\0");
  }

  return { exceptionFrame, hideDriverFrames };
};
