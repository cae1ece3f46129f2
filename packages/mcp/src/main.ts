#!/usr/bin/env node
/** Starts the server. */
import { join } from "node:path";
import { keepCompiledCode } from "@cloud-sandbox/server-kit/compiled-code";
import { cacheDirectory } from "./settings/cache-directory.js";

keepCompiledCode(join(cacheDirectory(process.env), "cloud-sandbox-mcp"));
// Loaded after the cache is in use, so that its code is kept too.
void import("./serve.js").then(({ serve }) => serve());
