#!/usr/bin/env node
/** Starts the server. */
import { useCompileCache } from "./settings/compile-cache.js";

useCompileCache();
const { serve } = await import("./serve.js");
await serve();
