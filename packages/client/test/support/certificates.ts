import { generate } from "selfsigned";
import type { CertificateKind } from "../faults/fault.js";

export interface Certificate {
  key: string;
  cert: string;
}

const aDay = 86_400_000;
const names = (host: { type: 2; value: string } | { type: 7; ip: string }) => [
  { name: "subjectAltName" as const, altNames: [host] },
];
const here = names({ type: 7, ip: "127.0.0.1" });

/** Certificates for a server on loopback, and the authority that has issued them. One is self-signed instead. */
export async function certificates(): Promise<{ authority: string } & Record<CertificateKind, Certificate>> {
  const from = new Date(Date.now() - 3 * aDay);
  const until = new Date(Date.now() + aDay);
  const common = { keyType: "ec" as const, algorithm: "sha256", notBeforeDate: from, notAfterDate: until };
  const authority = await generate([{ name: "commonName", value: "authority" }], {
    ...common,
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  const ca = { key: authority.private, cert: authority.cert };
  const issued = async (options: Parameters<typeof generate>[1]): Promise<Certificate> => {
    const made = await generate([{ name: "commonName", value: "server" }], { ...common, ...options });
    return { key: made.private, cert: made.cert };
  };
  return {
    authority: authority.cert,
    issued: await issued({ ca, extensions: here }),
    "self-signed": await issued({ extensions: here }),
    expired: await issued({ ca, extensions: here, notAfterDate: new Date(Date.now() - aDay) }),
    "for another host": await issued({ ca, extensions: names({ type: 2, value: "other.example" }) }),
  };
}
