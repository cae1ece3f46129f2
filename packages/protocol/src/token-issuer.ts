/** The `iss` of every token that a control plane of ours signs. */
export const tokenIssuer = "cloud-sandbox";
