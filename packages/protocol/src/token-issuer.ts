/** The `iss` of every token that a control plane of ours signs. */
export const tokenIssuer = "cloud-sandbox";

/** `scope` of the tokens with which the control plane itself talks to an agent. Nobody else is given one. */
export const controlPlaneScope = "control-plane";
