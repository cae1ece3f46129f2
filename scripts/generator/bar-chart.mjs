const width = 720;
const legendWidth = 215;
const labelWidth = 236;
/** The length of the longest bar. The rest is for its value. */
const barWidth = 380;
const margin = 16;
const rowHeight = 22;

/**
 * Draws bars as SVG, for a light and a dark page, on a background of its own. The side of a bar is told by its fill too: "ours" is full, "floor"
 * is empty, "other" is hatched.
 *
 * @param {{ title: string, unit: string, groups: { title: string, bars: { label: string, value: number, side: "ours" | "floor" | "other" }[] }[] }} chart
 */
export function barChart({ title, unit, groups }) {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value));
  const scale = barWidth / Math.max(...values);
  const parts = [];
  let y = 28;
  parts.push(`<text class="title" x="${margin}" y="${y}">${escaped(title)}</text>`);
  y += 14;
  parts.push(legend(groups, y));
  y += 16;
  for (const group of groups) {
    y += 24;
    parts.push(`<text class="group" x="${margin}" y="${y}">${escaped(group.title)}</text>`);
    y += 8;
    for (const { label, value, side } of group.bars) {
      // A bar that is too short to be seen would look as if nothing was measured.
      const length = Math.max(2, value * scale);
      parts.push(
        `<text x="${margin}" y="${y + 15}">${escaped(label)}</text>`,
        `<rect class="${side}" x="${labelWidth}" y="${y + 4}" width="${length.toFixed(1)}" height="14"/>`,
        `<text x="${(labelWidth + length + 8).toFixed(1)}" y="${y + 15}">${rounded(value)} ${unit}</text>`,
      );
      y += rowHeight;
    }
  }
  const height = y + 14;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
${style}
<rect class="paper" width="100%" height="100%" rx="8"/>
${parts.join("\n")}
</svg>
`;
}

const style = `<defs><pattern id="hatching" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="gap" width="5" height="5"/><rect class="line" width="2.5" height="5"/></pattern></defs>
<style>
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328}
.title{font-size:15px;font-weight:600}
.group{font-weight:600}
.paper,.gap{fill:#fff}
.ours{fill:#0b5cad}
.floor{fill:none;stroke:#1f2328}
.other{fill:url(#hatching);stroke:#6a737d}
.line{fill:#9aa4af}
@media (prefers-color-scheme:dark){
text{fill:#e6e6ea}
.paper,.gap{fill:#1b1b1f}
.ours{fill:#6cb0ff}
.floor{stroke:#e6e6ea}
.other{stroke:#98a2ad}
.line{fill:#68727d}
}
</style>`;

const sides = {
  ours: "Cloud Sandbox",
  floor: "the least that could do it",
  other: "what people use instead",
};

/** Says what each fill means, of those that the picture has. */
function legend(groups, y) {
  const used = new Set(groups.flatMap(({ bars }) => bars.map(({ side }) => side)));
  return Object.entries(sides)
    .filter(([side]) => used.has(side))
    .map(
      ([side, words], index) =>
        `<rect class="${side}" x="${margin + legendWidth * index}" y="${y}" width="22" height="12"/><text x="${margin + legendWidth * index + 30}" y="${y + 11}">${words}</text>`,
    )
    .join("");
}

/** A number with three digits that count, as 9.86, 28.7, 268 and 31,400. */
export function rounded(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return Number(value.toFixed(digits)).toLocaleString("en");
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
