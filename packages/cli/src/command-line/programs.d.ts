/** Programs of other packages: importing one starts it. */
declare module "cloud-sandbox-local/main";
declare module "cloud-sandbox-mcp/main";
