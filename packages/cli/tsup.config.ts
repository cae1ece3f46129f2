import { defineConfig } from "tsup";
import { program } from "../../scripts/program.js";

export default defineConfig({
  ...program,
  entry: {
    main: "src/main.ts",
    client: "src/commands/template/client.ts",
    typescript: "src/commands/typescript.ts",
  },
});
