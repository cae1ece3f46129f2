import type { Handlers, Reply } from "@cloud-sandbox/server-kit";
import type { AgentContract } from "@cloud-sandbox/server-kit/agent-contract";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { expectTypeOf, test } from "vitest";

interface Caller {
  readonly account: string;
}
type ControlPlane = Required<Handlers<ControlPlaneContract, Caller>>;
type Agent = Required<Handlers<AgentContract, Caller>>;
type CallOf<Handler extends (call: never) => unknown> = Parameters<Handler>[0];

test("handlers are typed from the contract", () => {
  expectTypeOf<CallOf<ControlPlane["getSandbox"]>["params"]>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<CallOf<ControlPlane["listSandboxes"]>["query"]["limit"]>().toEqualTypeOf<number>();
  expectTypeOf<CallOf<ControlPlane["listSandboxes"]>["query"]["cursor"]>().toEqualTypeOf<
    string | undefined
  >();
  expectTypeOf<CallOf<ControlPlane["setSandboxTimeout"]>["body"]>().toEqualTypeOf<{
    timeout_seconds: number;
  }>();
  expectTypeOf<CallOf<ControlPlane["pauseSandbox"]>["body"]>().toEqualTypeOf<undefined>();
  expectTypeOf<CallOf<ControlPlane["getSandbox"]>["auth"]>().toEqualTypeOf<Caller>();
  expectTypeOf<CallOf<ControlPlane["getHealth"]>["auth"]>().toEqualTypeOf<undefined>();
  expectTypeOf<CallOf<Agent["executeCode"]>["body"]["timeout"]>().toEqualTypeOf<number>();
});

test("an answer of another shape does not compile", () => {
  expectTypeOf<() => { id: string; deleted: boolean }>().toExtend<ControlPlane["deleteSandbox"]>();
  expectTypeOf<() => Reply>().toExtend<ControlPlane["getSandbox"]>();
  expectTypeOf<() => { id: number }>().not.toExtend<ControlPlane["deleteSandbox"]>();
  expectTypeOf<() => undefined>().not.toExtend<ControlPlane["getSandbox"]>();
  expectTypeOf<() => Uint8Array>().not.toExtend<Agent["downloadFile"]>();
});
