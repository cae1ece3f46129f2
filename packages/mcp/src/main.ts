#!/usr/bin/env node
/** Starts the server. */
import { useCompileCache } from "./settings/compile-cache.js";

useCompileCache();
// Loaded after the cache is in use, so that its code is kept too.
void import("./serve.js").then(({ serve }) => serve());
