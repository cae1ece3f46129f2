#!/usr/bin/env node
/** Starts the server. */
import { useCompileCache } from "./settings/compile-cache.js";

useCompileCache();
await import("./serve.js");
