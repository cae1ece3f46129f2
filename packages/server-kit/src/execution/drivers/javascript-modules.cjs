// Gives code in a JavaScript context its module system: it is the main module, and resolves other modules from the
// current working directory. The driver takes the function and removes the global variable.
globalThis.__cloudSandboxModules = () => {
  "use strict";
  // biome-ignore lint/suspicious/noShadowRestrictedNames: what the code declares anew would hold for this script too
  const { Map, Object, Reflect, String, URL, process } = globalThis;
  const path = require("node:path"),
    vm = require("node:vm");
  const { createRequire } = require("node:module"),
    { pathToFileURL } = require("node:url");

  /** Does nothing if code has frozen the global object. */
  const define = (name, value) =>
    Reflect.defineProperty(globalThis, name, {
      value,
      writable: true,
      configurable: true,
      enumerable: false,
    });

  const requireHere = () => createRequire(`${process.cwd()}/`);
  const requireAny = (id) => requireHere()(id);
  for (const name of ["resolve", "cache", "extensions"])
    Object.defineProperty(requireAny, name, { get: () => requireHere()[name], enumerable: true });
  const main = { id: ".", exports: {}, parent: null, loaded: false, children: [], require: requireAny };
  // Modules that are loaded later see the same main module.
  requireAny.main = process.mainModule = main;

  const importers = new Map();
  function importerAt(filename) {
    const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    return new vm.Script("(s, o) => import(s, o)", { filename, importModuleDynamically }).runInThisContext();
  }
  function importHere(specifier, options) {
    const path = `${process.cwd()}/execution.js`,
      warn = process.emitWarning;
    // Node 20 prints an experimental warning for this way to import; suppress it.
    process.emitWarning = () => undefined;
    try {
      if (!importers.has(path)) importers.set(path, importerAt(path));
      return importers.get(path)(specifier, options);
    } finally {
      process.emitWarning = warn;
    }
  }

  /** `import.meta.resolve`: the URL that a module would be imported from. */
  const resolveFrom = (base) => (specifier) => {
    const text = String(specifier);
    if (/^\.{0,2}\/|^[a-z][a-z\d+.-]+:/i.test(text)) return new URL(text, base).href;
    const found = requireAny.resolve(text);
    return path.isAbsolute(found) ? pathToFileURL(found).href : `node:${found}`;
  };

  for (const [name, value] of Object.entries({ require: requireAny, module: main, exports: main.exports }))
    define(name, value);
  define("__import", importHere);

  /** Makes the code that is run next the file `filename`. */
  function becomeFile(filename) {
    const { href } = pathToFileURL(filename),
      dirname = path.dirname(filename);
    process.argv[1] = filename;
    Object.assign(main, { filename, path: dirname, paths: requireAny.resolve.paths("module") });
    define("__filename", filename);
    define("__dirname", dirname);
    define("__importMeta", { dirname, filename, main: true, resolve: resolveFrom(href), url: href });
  }

  /**
   * A function that runs code as Node.js runs the file that it became, where only that can: with a return at its top level. Other
   * code is evaluated, which gives its value.
   */
  function fileOf(source, filename) {
    if (isScript(source)) return undefined;
    const names = ["exports", "require", "module", "__filename", "__dirname"];
    try {
      const call = vm.compileFunction(source, names, { filename });
      return () => call.call(main.exports, main.exports, requireAny, main, main.filename, main.path);
    } catch {
      return undefined;
    }
  }

  function isScript(source) {
    try {
      return Boolean(new vm.Script(source));
    } catch {
      return false;
    }
  }

  return { becomeFile, define, fileOf };
};
