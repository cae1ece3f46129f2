import { defineConfig } from "tsup";
import { program } from "../../scripts/program.js";

export default defineConfig({
  ...program,
  entry: {
    main: "src/main.ts",
    client: "../client/dist/index.js",
    typescript: "src/commands/typescript.ts",
  },
});
