import { createHash } from "node:crypto";
import { type NameResolver, nameServers } from "../addresses/name-servers.js";
import { systemNames } from "../addresses/system-names.js";
import { openFilesLimit } from "../runtime/host/open-files.js";
import type { Destination } from "./destination.js";
import { Dialer } from "./dialer.js";
import { EgressLog } from "./egress-log.js";
import { EgressPolicy, type EgressRules, type OperatorRules } from "./egress-policy.js";
import { HttpProxy } from "./http-proxy.js";
import { type InternetLack, nameServersLack } from "./internet-lack.js";
import {
  type EgressLimits,
  type EgressTelling,
  type OnEgressDecision,
  SandboxEgress,
} from "./sandbox-egress.js";
import type { CertificateAuthority } from "./secrets/certificate-authority.js";
import { EndedTls } from "./secrets/ended-tls.js";
import type { Secret } from "./secrets/secret.js";
import { SecuredConnections } from "./secured-connections.js";
import type { UpstreamProxy } from "./upstream-proxy.js";

const defaultLimits: EgressLimits = { connections: 128, greetingMs: 15_000, idleMs: 10 * 60_000 };
/** Connections of all sandboxes beyond which each gets no more than its share, so that others and the server itself get some too. */
const manyConnections = Math.max(256, Math.floor((openFilesLimit - 256) / 4));

export interface EgressGatewayOptions {
  readonly operator: OperatorRules;
  /** Looks up a host's addresses. Default: the name servers of this machine; for names that the operator allowed, as its programs do. */
  readonly resolve?: NameResolver | undefined;
  /** Checks whether this machine has internet access. Default: asks the machine's name servers, unless `resolve` is set. */
  readonly lack?: InternetLack | undefined;
  /** An HTTP proxy that this machine needs to reach the internet. Default: none. */
  readonly upstreamProxy?: UpstreamProxy | undefined;
  /** Certificates, in PEM, of authorities that servers of https: requests to the proxy may have beside those that everybody trusts. */
  readonly authorities?: (() => string) | undefined;
  /** The authority that answers in place of hosts that have a secret. Default: one that is in memory alone. */
  readonly authority?: CertificateAuthority | undefined;
  readonly limits?: Partial<EgressLimits>;
  readonly onDecision?: OnEgressDecision | undefined;
  /** Called with what callers want to know at once, and the sandbox. */
  readonly onTelling?: OnEgressTelling | undefined;
}

export type OnEgressTelling = (sandboxId: string, telling: EgressTelling) => void;

/** The filtering proxy that is a sandbox's only network. A connection's socket tells which sandbox it belongs to. */
export class EgressGateway {
  /** By sandbox. There are two while one machine takes the place of another. */
  readonly #machines = new Map<string, readonly SandboxEgress[]>();
  readonly #http: HttpProxy;
  readonly #endedTls: EndedTls;
  readonly #dialer: Dialer;

  constructor(private readonly options: EgressGatewayOptions) {
    const secured = new SecuredConnections(options.authorities);
    this.#http = new HttpProxy(secured);
    this.#endedTls = new EndedTls(secured, options.authority);
    const unknown: InternetLack = async () => undefined;
    const resolve = options.resolve ?? nameServers();
    this.#dialer = new Dialer({
      resolve,
      resolveAllowed: options.resolve ?? systemNames(resolve),
      lack: options.lack ?? (options.resolve ? unknown : nameServersLack()),
      upstreamProxy: options.upstreamProxy,
    });
  }

  /** Opens the egress of a machine that is being started. Everything is refused until {@link setRules} is called. */
  open(id: string): SandboxEgress {
    const { operator, limits, onDecision, onTelling } = this.options;
    const closed = new EgressPolicy({ internetAccess: false }, operator);
    const egress = new SandboxEgress(
      id,
      closed,
      this.#dialer,
      this.#http,
      this.#endedTls,
      { ...defaultLimits, ...limits },
      onDecision,
      (open) => this.#hasRoom(open),
      (telling) => onTelling?.(id, telling),
    );
    this.#machines.set(id, [...this.#of(id), egress]);
    return egress;
  }

  /** Whether a sandbox that has so many connections open may open another. */
  #hasRoom(open: number): boolean {
    const counts = [...this.#machines.values()].flatMap((all) => all.map((egress) => egress.open));
    const used = counts.filter((count) => count > 0);
    const total = used.reduce((sum, count) => sum + count, 0);
    return total < manyConnections || open < manyConnections / used.length;
  }

  /** Sets which destinations a sandbox may reach from now on. */
  setRules(id: string, rules: EgressRules): void {
    const policy = this.policy(rules);
    for (const egress of this.#of(id)) egress.policy = policy;
  }

  /** Answers the programs of a sandbox that wait for a destination. False if none does. */
  decide(id: string, destination: Destination, isAllowed: boolean): boolean {
    return this.#of(id)
      .map((egress) => egress.decide(destination, isAllowed))
      .includes(true);
  }

  /** The policy of rules that a sandbox asks for. */
  policy(rules: EgressRules): EgressPolicy {
    return new EgressPolicy(rules, this.options.operator);
  }

  /** Sets the secrets of a sandbox. Its open connections to their hosts are closed. */
  setSecrets(id: string, secrets: readonly Secret[]): void {
    for (const egress of this.#of(id)) egress.secrets = secrets;
  }

  /** Closes a sandbox's open connections to the hosts of secrets, whose value has changed. */
  closeTunnels(id: string, secrets: readonly Secret[]): void {
    for (const egress of this.#of(id)) egress.closeTunnels(secrets);
  }

  /** Tells the authority from those of other servers. */
  get authorityId(): string {
    return createHash("sha256").update(this.authority).digest("hex").slice(0, 16);
  }

  /** The authority that programs of a sandbox with secrets must trust, in PEM. */
  get authority(): string {
    return this.#endedTls.authority;
  }

  /** The connections that a sandbox requested. Empty after its machine has ended. */
  log(id: string): EgressLog {
    return this.#of(id)[0]?.log ?? new EgressLog();
  }

  /** Closes all connections of a machine and forgets it. */
  close(egress: SandboxEgress): void {
    egress.close();
    const others = this.#of(egress.id).filter((each) => each !== egress);
    if (others.length > 0) this.#machines.set(egress.id, others);
    else this.#machines.delete(egress.id);
  }

  #of(id: string): readonly SandboxEgress[] {
    return this.#machines.get(id) ?? [];
  }
}
