import { defineConfig } from "tsup";
import { program } from "../../scripts/program.js";

export default defineConfig({ ...program, entry: { main: "src/main.ts" } });
