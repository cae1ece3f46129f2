import { OptionDefaults } from "typedoc";

/** Writes the reference of the public names to docs/api. Fails if a public name has no comment. */
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
    // Write no links to source files: they would lead to the place from which the checkout came, which may not be
    // public.
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    // Also allow the tags in the types that are generated from the contracts.
    blockTags: [...OptionDefaults.blockTags, "@description", "@constant"],
    requiredToBeDocumented: [
      ...["Class", "Interface", "TypeAlias", "Enum", "Variable", "Function"],
      ...["Method", "Accessor", "CallSignature", "GetSignature"],
    ],
  },
};
