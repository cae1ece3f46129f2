import { expect, test } from "vitest";
import { messageHeaders, withoutHopByHop } from "../../src/relay/forwarded-headers.js";

const spaces = " ".repeat(500_000);

test.each([
  ["close, X-Mine", ["x-yours"]],
  ["X-Mine ,\tX-Yours", []],
  ["content-length", ["x-mine", "x-yours"]],
  [`close, a${spaces}b`, ["x-mine", "x-yours"]],
])(
  "headers that Connection names are not passed on, whatever it contains",
  { timeout: 30_000 },
  (connection, kept) => {
    const headers = { connection, "x-mine": "1", "x-yours": "2", "content-length": "0" };
    expect(Object.keys(messageHeaders({ headers }))).toEqual([...kept, "content-length"]);
    const raw = withoutHopByHop(Object.entries(headers).flat());
    expect(raw.filter((_, index) => index % 2 === 0)).toEqual([...kept, "content-length"]);
  },
);
