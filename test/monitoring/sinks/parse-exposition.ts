/** A series with its value, in the Prometheus text format. */
interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric name with its help, type and series. */
export interface ParsedFamily {
  help?: string;
  type?: string;
  readonly samples: ParsedSample[];
}

/**
 * Parses the text format, version 0.0.4, by its published rules (prometheus.io/docs/instrumenting/exposition_formats):
 * LF line ends, also after the last line; `# HELP` and `# TYPE` at most once per name and before its samples; all lines
 * of a name in one group; each series once.
 */
export function parseExposition(text: string): Map<string, ParsedFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, ParsedFamily>();
  const seen = new Set<string>();
  let current = '';
  const familyOf = (name: string): ParsedFamily => {
    if (name !== current && families.has(name)) throw new Error(`the lines of ${name} are not together`);
    current = name;
    const family = families.get(name) ?? { samples: [] };
    families.set(name, family);
    return family;
  };
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, about = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line) ?? [];
    if (kind === undefined) {
      const sample = parseSample(line);
      const series = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(series)) throw new Error(`a series occurs twice: ${line}`);
      seen.add(series);
      familyOf(sample.name).samples.push(sample);
      continue;
    }
    const family = familyOf(about);
    if (family.samples.length > 0) throw new Error(`${kind} of ${about} comes after its samples`);
    if (kind === 'HELP' ? family.help !== undefined : family.type !== undefined) throw new Error(`${kind} twice`);
    if (kind === 'HELP') family.help = unescape(rest, 'n\\');
    else if (/^(counter|gauge|histogram|summary|untyped)$/.test(rest)) family.type = rest;
    else throw new Error(`no type: ${rest}`);
  }
  return families;
}

function parseSample(line: string): ParsedSample {
  const [all, name = ''] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)/.exec(line) ?? [];
  if (all === undefined) throw new Error(`no sample: ${line}`);
  let index = name.length;
  const labels: Record<string, string> = {};
  if (line[index] === '{') {
    const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(,?)/y;
    index++;
    while (line[index] !== '}') {
      label.lastIndex = index;
      const [found, key = '', value = ''] = label.exec(line) ?? [];
      if (found === undefined || key in labels) throw new Error(`no label at ${index}: ${line}`);
      labels[key] = unescape(value, 'n\\"');
      index = label.lastIndex;
    }
    index++;
  }
  const [, number = ''] = /^ +(\S+)$/.exec(line.slice(index)) ?? [];
  return { name, labels, value: parseNumber(number) };
}

function parseNumber(text: string): number {
  if (text === 'NaN') return NaN;
  if (text === '+Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) throw new Error(`no number: '${text}'`);
  return Number(text);
}

function unescape(text: string, allowed: string): string {
  return text.replaceAll(/\\(.)/g, (_, letter: string) => {
    if (!allowed.includes(letter)) throw new Error(`no escape: \\${letter}`);
    return letter === 'n' ? '\n' : letter;
  });
}
