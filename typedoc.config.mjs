import { OptionDefaults } from "typedoc";

/** Writes the reference of what programs import to docs/api; a public name without a comment fails it. */
export default {
  name: "Cloud Sandbox",
  readme: "none",
  entryPointStrategy: "packages",
  entryPoints: ["packages/client", "packages/local", "packages/mcp-runner"],
  out: "docs/api",
  treatWarningsAsErrors: true,
  validation: { notExported: true, invalidLink: true, notDocumented: true },
  packageOptions: {
    readme: "none",
    // They would lead to wherever the checkout came from, which may be nowhere.
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    // Those of the types that are generated from the contracts.
    blockTags: [...OptionDefaults.blockTags, "@description", "@constant"],
    requiredToBeDocumented: [
      ...["Class", "Interface", "TypeAlias", "Enum", "Variable", "Function"],
      ...["Method", "Accessor", "CallSignature", "GetSignature"],
    ],
  },
};
