/** The `iss` claim of every token that the control plane signs. */
export const tokenIssuer = "cloud-sandbox";

/**
 * The `scope` claim of the tokens that the control plane itself uses to call an agent. No caller is given such a
 * token.
 */
export const controlPlaneScope = "control-plane";
