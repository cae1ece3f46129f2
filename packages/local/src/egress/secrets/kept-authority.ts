import { InvalidSecretsKeyError } from "../../errors/local-errors.js";
import type { Sealer } from "../../store/sealer.js";
import type { Settings } from "../../store/settings.js";
import { CertificateAuthority } from "./certificate-authority.js";

/** The authority that the store has, sealed, so that sandboxes that go on trust the next server too. Each key has its own. */
export async function keptAuthority(
  settings: Settings | undefined,
  sealer: Sealer,
): Promise<CertificateAuthority | undefined> {
  if (!settings) return undefined;
  const name = `egress_authority_${sealer.id}`;
  const sealed = await settings.once(name, () => sealer.seal(new CertificateAuthority().exported, name));
  const exported = sealer.open(sealed, name);
  if (exported === undefined) throw new InvalidSecretsKeyError(name, new Error("its record was changed"));
  return new CertificateAuthority(exported);
}
