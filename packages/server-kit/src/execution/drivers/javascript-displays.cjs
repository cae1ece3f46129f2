// Rich output of JavaScript contexts. The driver takes the function and removes the global variable.
globalThis.__cloudSandboxDisplays = (current, send) => {
  "use strict";
  // biome-ignore lint/suspicious/noShadowRestrictedNames: what the code declares anew would hold for this script too
  const { Buffer, JSON, Object, Symbol, console } = globalThis;
  const displayed = Symbol.for("Jupyter.display"),
    mostOutputs = 64,
    mostBytes = 8 << 20;

  function emit(bundle) {
    for (const [mime, data] of Object.entries(bundle ?? {})) {
      const execution = current();
      if (mime === "text/plain" || !execution) continue;
      const isBytes = data instanceof Uint8Array;
      const text = isBytes
        ? Buffer.from(data).toString("base64")
        : typeof data === "string" && mime !== "application/json"
          ? data
          : (JSON.stringify(data) ?? "null");
      if (execution.outputs >= mostOutputs || execution.bytes + text.length > mostBytes)
        execution.dropped += 1;
      else {
        execution.outputs += 1;
        execution.bytes += text.length;
        send("D", `${mime}\0${text}`);
      }
    }
  }

  /**
   * Displays values. An object that maps MIME types to data, or one whose display-symbol method returns such an
   * object, is sent as rich output; any other value is printed as text.
   */
  function display(...values) {
    for (const value of values) {
      const bundle = typeof value?.[displayed] === "function" ? value[displayed]() : value;
      const mimes = typeof bundle === "object" && bundle !== null ? Object.keys(bundle) : [];
      if (
        mimes.length > 0 &&
        mimes.every((mime) => mime.includes("/")) &&
        mimes.some((mime) => mime !== "text/plain")
      )
        emit(bundle);
      else console.log(value);
    }
  }

  return { display, displayed, emit };
};
