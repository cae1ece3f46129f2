import type { OfferedSystem } from "@cloud-sandbox/protocol";

/** What a control plane knows of a template, as far as callers are told. */
export interface TemplateFacts {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly limits: { readonly vcpu: number; readonly memoryMb: number; readonly diskMb: number };
  /** What a sandbox made of it asked for in place of its limits, which are those then. */
  readonly ownLimits?: OwnLimits;
  readonly languages: readonly { readonly language: string; readonly version: string | undefined }[];
  /** Undefined where there is none, or none is told. */
  readonly system?: OfferedSystem | undefined;
  /** The one that it is for; undefined where it is for all of them. */
  readonly language?: string | undefined;
  /** Of one that was built here. */
  readonly built?: BuiltFacts;
}

interface BuiltFacts {
  readonly status: "building" | "active" | "failed";
  readonly buildId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly fromImage: string;
  /** What is not as `fromImage` says: sentences for people. */
  readonly differences?: readonly string[];
  readonly startCommand: string | undefined;
}

/** What a sandbox asked for in place of its template's limits. */
export interface OwnLimits {
  readonly memoryMb?: number;
  readonly vcpu?: number;
}
