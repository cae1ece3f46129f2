import { InvalidSecretsKeyError } from "../../errors/local-errors.js";
import type { Sealer } from "../../store/sealer.js";
import type { Settings } from "../../store/settings.js";
import { CertificateAuthority } from "./certificate-authority.js";

/**
 * The authority that the store has, sealed, so that sandboxes that go on trust the next server too. Each key has its own; one that
 * replaces another takes that one's over.
 */
export async function keptAuthority(
  settings: Settings | undefined,
  sealer: Sealer,
): Promise<CertificateAuthority | undefined> {
  if (!settings) return undefined;
  const open = (sealed: string, name: string): string => {
    const exported = sealer.open(sealed, name);
    if (exported !== undefined) return exported;
    throw new InvalidSecretsKeyError(name, new Error("its record was changed"));
  };
  const ofOlderKey = async (): Promise<string | undefined> => {
    for (const name of sealer.olderIds.map(settingOf)) {
      const sealed = await settings.find(name);
      if (sealed !== undefined) return open(sealed, name);
    }
    return undefined;
  };
  const name = settingOf(sealer.id);
  const sealed = await settings.once(name, async () =>
    sealer.seal((await ofOlderKey()) ?? new CertificateAuthority().exported, name),
  );
  return new CertificateAuthority(open(sealed, name));
}

const settingOf = (keyId: string): string => `egress_authority_${keyId}`;
