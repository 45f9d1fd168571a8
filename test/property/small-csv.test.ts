import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import fc from 'fast-check';

import { fileStatistics } from '../../src/integration/file-statistics.ts';
import { smallFileStatistics } from '../../src/integration/small-file-statistics.ts';
import { findFiles } from '../../src/io/find-files.ts';
import { validateSchema, type ValidateInput } from '../../src/schemas/validate-values.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { SEED } from './check.ts';

/** Values of decisions and true labels. A column takes its values from one of the lists. */
const OUTCOMES: readonly (readonly string[])[] = [
  ['0', '1'],
  ['0', '1', ''],
  ['no', 'yes'],
  ['no', 'yes', 'NA', ''],
  ['1', '2', '9'],
  ['-1', '1', ''],
  ['true', 'FALSE', 'False'],
  ['0', 'true', '1.0'],
  ['0.0', '1.0', ''],
  ['01', '0', '1'],
  ['0', '1', 'nan', 'NULL'],
  ['0', '1', 'n/a', '0.0', 'None'],
  [' 1', '0', 'no'],
  ['1 ', '0', '1'],
  ['+1', '0', '-0'],
  ['1e0', '0'],
  ['123456789012345678', '1', '0'],
  ["'-1", "'yes", '1', '0'],
  ['inf', '1', '0'],
  ['1_0', '0x1', '1', 'x'],
  ['', ''],
  ['=1', '@a', '-x', 'b'],
  ['2020-01-01', '2021-01-01'],
];

/** Values of columns of groups. */
const GROUPS: readonly (readonly string[])[] = [
  ['a', 'b', 'c'],
  ['a', 'b', ''],
  ['f', 'm', 'F', ' f', 'f '],
  ['1', '2', '10'],
  ['1', '2', '10', ''],
  ['1', '1.0', '01', '1e0', 'x'],
  ['1', ' 1', '+1', '-0'],
  ['1.5', '2', '2.50'],
  ['18-25', '26-45', '46+', '<18', '>45'],
  ['18-25', '26-45'],
  ['None', 'NA', 'nan', 'b'],
  ['NaN', '1', '2'],
  ['inf', '-inf', '3'],
  ['a"b', 'a', '"'],
  ['a,b', 'a;b', 'a|b', 'a\tb', 'a'],
  ['a||b', 'a', '|| '],
  ['é', 'e\u0301', '日本', '🙂', '\u00a0x'],
  ["'=1", '=1', "'a", '@x'],
  ['a\nb', 'a'],
  ['a\rb', 'a\u0001', 'b'],
  ['(missing)', '', 'a'],
  ['__proto__', 'constructor', ''],
  ['9007199254740993', '9007199254740992', '1'],
  ['', 'true', 'True'],
  [' ', 'b', '\u2028', '\ufeff'],
  ['.5', '-', '-.', '5.', 'x'],
  ['$1', '€2', '(1)', '1%', '1/2'],
  ['2020-01-01', '12:30', 'TRUE'],
];

/** Short texts of the characters of which numbers, missing values and quoted fields consist. */
const text = fc.string({
  unit: fc.constantFrom(...Array.from('0123456789+-.eExXnNaAiIfF_, \t"\'|;=()%$é\u00a0\u2212\uff11日🙂')),
  maxLength: 5,
});

/** The texts of a file, and how it is written. */
interface Form {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly ending: string;
  readonly quotes: 'needed' | 'all' | 'none';
  readonly names: Readonly<Record<'p' | 't' | 'g' | 'h' | 'x', string>>;
  readonly flaw:
    'none' | 'bom' | 'ragged' | 'blank line' | 'open quote' | 'late quote' | 'mixed ends' | 'trailing delimiter';
}

const form: fc.Arbitrary<Form> = fc.record({
  delimiter: fc.constantFrom(',', ',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\n', '\n', '\n', '\r\n'),
  ending: fc.constantFrom('', '\n', '\n', '\n'),
  quotes: fc.constantFrom('needed', 'needed', 'needed', 'all', 'none'),
  names: fc.constantFrom(
    ...Array<Form['names']>(8).fill({ p: 'p', t: 't', g: 'g', h: 'h', x: 'x' }),
    { p: '2', t: '3', g: '4', h: '1', x: '0' },
    { p: 'p', t: 'P', g: 'g', h: 'h', x: 'x' },
    { p: 'the p', t: 'a"t', g: 'g,1', h: ' h', x: '' },
  ),
  flaw: fc.constantFrom(
    ...Array<'none'>(40).fill('none'),
    'bom',
    'ragged',
    'blank line',
    'open quote',
    'late quote',
    'mixed ends',
    'trailing delimiter',
  ),
});

const KEYS = ['p', 't', 'g', 'h', 'x'] as const;

/** The columns of a file. One has values from any list, the others from the first four, which are plain. */
const columns = fc
  .record({ count: fc.integer({ min: 6, max: 14 }), odd: fc.constantFrom(...KEYS) })
  .chain(({ count, odd }) => {
    const values = (key: (typeof KEYS)[number]): fc.Arbitrary<string[]> => {
      const lists = key === 'p' || key === 't' ? OUTCOMES : GROUPS;
      return fc.constantFrom(...(key === odd ? lists : lists.slice(0, 4))).chain((list) => {
        const texts =
          key === odd ? [...list.map((one) => fc.constant(one)), text] : list.map((one) => fc.constant(one));
        return fc.array(fc.oneof(...texts), { minLength: count, maxLength: count });
      });
    };
    return fc.record({ p: values('p'), t: values('t'), g: values('g'), h: values('h'), x: values('x') });
  });

const options = fc.record({
  hasTruth: fc.boolean(),
  attributes: fc.constantFrom<('g' | 'h')[][]>([['g']], [['g'], ['h']], [['h'], ['g'], ['h']]),
  // The rows from which positive labels are taken.
  labels: fc.array(fc.nat(5), { maxLength: 2 }),
  nanPolicy: fc.constantFrom('exclude' as const, 'include' as const),
});

const theCase = fc.record({ form, columns, options, order: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }) });
type Case = typeof theCase extends fc.Arbitrary<infer T> ? T : never;

function textOf({ form: { delimiter, lineEnd, ending, quotes, names, flaw }, columns: values, order }: Case): string {
  const keys = order.map((index) => KEYS[index] as keyof typeof values);
  const field = (text: string): string => {
    const isQuoted = quotes === 'all' || (quotes === 'needed' && /[",;|\t\r\n]/.test(text));
    return isQuoted ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = values.p.map((_, row) => keys.map((key) => field(values[key][row] as string)).join(delimiter));
  const lines = [keys.map((key) => field(names[key])).join(delimiter), ...rows];
  if (flaw === 'ragged') lines.push(`${lines.pop() ?? ''}${delimiter}x`);
  if (flaw === 'blank line') lines.splice(1, 0, '');
  if (flaw === 'open quote') lines.push(`${lines.pop() ?? ''}"`);
  if (flaw === 'late quote') lines.push(`"${lines.pop() ?? ''}`);
  if (flaw === 'trailing delimiter') return lines.map((line) => line + delimiter).join(lineEnd) + ending;
  if (flaw === 'mixed ends') return lines.join('\n') + '\r\n';
  return (flaw === 'bom' ? '\ufeff' : '') + lines.join(lineEnd) + (ending === '\n' ? lineEnd : ending);
}

/** Returns the options of a case. A column of other values than 0 and 1 gets a positive label. */
function inputOf({ form: { names }, columns: { p, t }, options }: Case): ValidateInput {
  const { hasTruth, attributes, labels, nanPolicy } = options;
  const labelOf = (values: readonly string[], row: number | undefined): string | undefined =>
    row === undefined && values.every((value) => ['0', '1', ''].includes(value)) ? undefined : values[row ?? 0];
  const positiveLabel = labelOf(p, labels[0]);
  const yTruePositiveLabel = labelOf(t, labels[1]);
  return {
    yPred: names.p,
    ...(positiveLabel === undefined ? {} : { positiveLabel }),
    ...(hasTruth ? { yTrue: names.t, ...(yTruePositiveLabel === undefined ? {} : { yTruePositiveLabel }) } : {}),
    attributes: attributes.map((own) => own.map((key) => names[key])),
    nanPolicy,
  };
}

describe('a small CSV file', () => {
  const folder = useTemporaryFolder();

  /**
   * Compares the two readers. Files that are left to DuckDB are skipped.
   * @returns the number of compared files
   */
  async function compare(numRuns: number): Promise<number> {
    let compared = 0;
    const file = path.join(folder(), 'rows.csv');
    await fc.assert(
      fc.asyncProperty(theCase, async (one) => {
        const request = validateSchema.parse(inputOf(one));
        const needed = { kind: 'classification', needsTruth: request.yTrue !== undefined } as const;
        writeFileSync(file, textOf(one));
        const files = await findFiles(file);
        const found = await smallFileStatistics(files, needed, request);
        if (found === undefined) return;
        compared++;
        expect(found).to.deep.equal(await fileStatistics(files, needed, request, {}));
      }),
      { seed: SEED, numRuns },
    );
    return compared;
  }

  it('has the statistics that DuckDB gives', async () => {
    expect(await compare(60)).to.be.within(10, 40);
  });

  it('has the statistics that DuckDB gives, for all inputs @slow', async () => {
    expect(await compare(1000)).to.be.within(200, 600);
  });
});
