import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";
import { nameServersLack } from "../../src/egress/internet-lack.js";
import { EgressProxy } from "../support/egress-proxy.js";

/**
 * A name server that answers every question with these flags in its header, and with a record if they mean success.
 * Without flags it never answers.
 */
async function nameServer(flags: number | undefined) {
  const socket = createSocket("udp4");
  let questions = 0;
  socket.on("message", (question, { port, address }) => {
    questions += 1;
    if (flags === undefined) return;
    const answer = Buffer.from(question);
    answer.writeUInt16BE(0x8000 | flags, 2);
    const additional = answer.indexOf(Buffer.from([0, 0, 2, 0, 1])) + 5;
    // Leave out the additional section of the question: the answer contains only the question itself.
    answer.writeUInt16BE(0, 10);
    const record = Buffer.from([0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 60, 0, 3, 1, 0x61, 0]);
    answer.writeUInt16BE(flags === 0 ? 1 : 0, 6);
    const pieces = [answer.subarray(0, additional), ...(flags === 0 ? [record] : [])];
    socket.send(Buffer.concat(pieces), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions: () => questions,
    [Symbol.dispose]: () => void socket.close(),
  };
}

test.each([
  ["knows who answers for com", 0, undefined],
  [
    "knows no such name",
    3,
    /^The name servers of this machine know no name of the internet\. .*--egress-upstream-proxy/,
  ],
  [
    "cannot ask further",
    2,
    /^The name servers of this machine know no name of the internet\. .*--egress-upstream-proxy/,
  ],
  ["is silent", undefined, /^The name servers of this machine do not answer\./],
])("a name server that %s is asked once, however many connections fail", async (_, flags, said) => {
  using server = await nameServer(flags);
  const lack = nameServersLack([server.address]);
  const expected = said && { message: expect.stringMatching(said), isSilent: flags === undefined };
  expect(await Promise.all([lack(), lack()])).toEqual([expected, expected]);
  expect(await lack()).toEqual(expected);
  expect(server.questions()).toBe(1);
});

test("without configured name servers the machine's are asked", () => {
  expect(() => nameServersLack()).not.toThrow();
});

test("a name server that does not exist does not answer", async () => {
  const server = await nameServer(3);
  server[Symbol.dispose]();
  expect(await nameServersLack([server.address])()).toMatchObject({ isSilent: true });
});

const lack = async () => ({ message: "This machine has no internet access: it is a test.", isSilent: false });
const resolve = async (name: string): Promise<string[]> => (name === "mirror.test" ? ["203.0.113.80"] : []);

test.each([
  ["a name without an address", "pypi.org:443", "failed", /no internet access.*has no address/],
  [
    "a name that stands for an address of its own network",
    "mirror.test:443",
    "refused",
    /no internet access.*not on the public/,
  ],
  ["an address that is refused anyway", "10.0.0.1:443", "refused", /^10\.0\.0\.1:443 is not on the public/],
])(
  "the machine's lack of internet access is given as the reason for %s where it is",
  async (_, authority, decision, reason) => {
    await using proxy = await EgressProxy.start({ resolve, lack });
    await expect(proxy.tunnel(authority)).rejects.toThrow();
    expect(proxy.egress.log.entries).toMatchObject([{ decision, reason: expect.stringMatching(reason) }]);
  },
);

test("a destination that the sandbox may not reach is not explained by the machine's lack of internet access", async () => {
  await using proxy = await EgressProxy.start({ resolve, lack, rules: { internetAccess: false } });
  await expect(proxy.tunnel("pypi.org:443")).rejects.toThrow(/403 This sandbox has no internet access/);
});
