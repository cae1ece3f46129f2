/** All samples of one metric, in Prometheus' text format. */
export interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "summary";
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Suffix of the metric's name, such as `_sum` and `_count` of a summary. */
  readonly suffix?: string;
}

export function prometheusText(series: readonly Series[]): string {
  return series
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(
        ({ value, labels = {}, suffix = "" }) => `${name}${suffix}${labelText(labels)} ${value}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

const escapeLabel = (value: string) =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
