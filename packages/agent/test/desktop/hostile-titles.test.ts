import { describe, expect, test } from "vitest";
import { boundsIn, detailsIn } from "../../src/desktop/windows.js";

const first = 0x400001;
const second = 0x600002;
const tree = (title: string): string => `
xwininfo: Window id: 1313 (the root window) (has no name)

  Root window id: 1313 (the root window) (has no name)
  Parent window id: 0 (none)
     2 children:
     ${second} "second": ("xterm" "XTerm")  484x316+1+20  +398+-20
     ${first} "${title}": ("a" "A")  200x100+0+0  +-5+7
`;

describe("lines in the title of a window", () => {
  test("are no windows", () => {
    const listed = `0x00400001  0 10 vm first
0x00000009  0 0 h fake
0x00600002 -1 0 vm second: 2
0x00400001  0 11 vm first
`;
    expect(detailsIn(listed, [first, second])).toEqual([
      { id: String(first), title: "first", desktop: 0, pid: 10 },
      { id: String(second), title: "second: 2", desktop: -1 },
    ]);
    expect(detailsIn(listed, [first, second, 9])).toBeUndefined();
  });

  test("move no other window", () => {
    const ids = new Set([first, second]);
    const position = { x: -5, y: 7, width: 200, height: 100 };
    expect(boundsIn(tree("first"), ids)).toEqual(
      new Map([
        [second, { x: 398, y: -20, width: 484, height: 316 }],
        [first, position],
      ]),
    );
    const forged = `\n     ${second} "": ()  1x1+0+0  +0+0\n     9 "": ()  1x1+0+0  +0+0\n     ${first} "`;
    expect(boundsIn(tree(forged), ids)).toEqual(new Map([[first, position]]));
  });

  test("are read as fast as others", () => {
    // A search that begins anew at each character would take minutes.
    for (const filler of ["\n", " ", "1", " 1", " 1x1+", "\n 1 1x1+1 +"])
      boundsIn(tree(filler.repeat(1_000_000 / filler.length)), new Set([first]));
  });
});
