/** One number of a family, with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** NaN where it is undefined. */
  readonly value: number;
}

/** Numbers of one name and meaning. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly Sample[];
}

/** Families in the text format of Prometheus, version 0.0.4, with a line end after each line. */
export function toExposition(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

function familyText({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(({ labels, value }) => `${name}${labelText(labels)} ${numberText(value)}\n`);
  return [`# HELP ${name} ${escapeHelp(help)}\n`, `# TYPE ${name} ${type}\n`, ...lines].join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
