import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import type { FairnessToolkitError } from '../../src/exceptions/index.ts';
import { FairnessAnalyzer, parsePipelineConfig } from '../../src/index.ts';
import { loadData } from '../../src/io/index.ts';
import { findSubgroups } from '../../src/metrics/index.ts';
import { validateFile } from '../../src/integration/validate-file.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(name: string, lines: readonly string[]): string {
  const file = path.join(folder(), name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

async function errorOf(work: Promise<unknown>): Promise<FairnessToolkitError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error as FairnessToolkitError;
  }
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return (await errorOf(work))?.message ?? '';
}

describe('numbers with a decimal comma', () => {
  const expected = { a: [1.5, -0.5, 2000], b: ['x', 'y', 'x'], c: [1, 2, 3] };
  const files: [title: string, lines: string[]][] = [
    ['between semicolons', ['a;b;c', '1,5;x;1', '-,5;y;2', '2e3;x;3']],
    ['between tabs', ['a\tb\tc', '1,5\tx\t1', '-0,5\ty\t2', '2,0e3\tx\t3']],
    ['in quotes between commas', ['a,b,c', '"1,5",x,1', '"-0,5",y,2', '2000,x,3']],
  ];
  for (const [title, lines] of files) {
    it(`are read ${title}`, async () => {
      expect((await loadData(write('a.csv', lines), { decimal: ',' })).toColumns()).to.deep.equal(expected);
    });
  }

  it('are read in the only column of a file', async () => {
    const table = await loadData(write('only.csv', ['a', '1,5', '2,5']), { decimal: ',' });
    expect(table.toColumns()).to.deep.equal({ a: [1.5, 2.5] });
  });

  it('are read beside texts that mean a missing value', async () => {
    const rows = ['s;score;w;y', 'f;0,25;1,5;1', 'f;NA;1;0', 'f;0,75;2;1', 'm;0,5;n/a;1', 'm;1,0;1;0', 'm;0,25;0,5;NA'];
    const commas = write('commas.csv', rows);
    const points = write(
      'points.csv',
      rows.map((row) => row.replaceAll(',', '.').replaceAll(';', ',')),
    );
    for (const backend of ['duckdb', 'native'] as const) {
      const request = { attributes: [['s']], score: 'score', yTrue: 'y', sampleWeight: 'w', minGroupSize: 1, backend };
      const [of, from] = [
        await validateFile(points, request),
        await validateFile(commas, { ...request, decimal: ',' }),
      ];
      // By hand: of scores of at least 0.5, f has weight 2 of 3.5, m weight 1 of 1.5 (its first row has no weight).
      expect(from.attributes['s']?.['demographic_parity_difference']?.value).to.be.closeTo(1 / 1.5 - 2 / 3.5, 1e-12);
      expect(JSON.stringify(from.attributes)).to.equal(JSON.stringify(of.attributes));
    }
  });

  it('stay as they are written if they name groups', async () => {
    const file = write('labels.csv', ['s;y', '1,50;1', '1,50;0', '2;1', '2;1']);
    const table = await loadData(file, { decimal: ',', labels: ['s'] });
    expect(table.toColumns()['s']).to.deep.equal(['1,50', '1,50', '2', '2']);
    const columns = { yPredCol: 'y', sensitiveCol: 's', minGroupSize: 1, decimal: ',' } as const;
    const { value, nPerGroup } = await FairnessAnalyzer.fromFile(file, columns).demographicParityDifference();
    expect(value).to.equal(0.5);
    expect(Object.keys(nPerGroup)).to.have.members(['1,50', '2']);
  });

  const ambiguous: [title: string, values: string[]][] = [
    ['separators of thousands', ['1.234,5', '2,5']],
    ['only whole thousands', ['1.234', '2.345']],
    ['millions', ['1.234.567', '2']],
    ['a decimal point', ['0.5', '0,5']],
    ['a decimal point and a missing value', ['0.5', 'NA']],
    ['thousands and a text', ['1.234', 'none']],
  ];
  for (const [title, values] of ambiguous) {
    it(`are refused with ${title}, because the point is ambiguous`, async () => {
      const rows = values.flatMap((value) => [`f;${value};1`, `m;${value};0`]);
      const file = write('ambiguous.csv', ['s;v;y', ...rows]);
      expect(await messageOf(loadData(file, { decimal: ',' }))).to.match(
        /Column 'v' holds '[\d.,]+' in row \d+, which contains a point/,
      );
      for (const backend of ['duckdb', 'native'] as const) {
        const request = { attributes: [['s']], score: 'v', scoreThreshold: 1000, decimal: ',' as const, backend };
        const error = await messageOf(validateFile(file, { ...request, naValues: ['NA', 'none'] }));
        expect(error, backend).to.match(/Column 'v' (should hold numbers|holds '.*point)/);
      }
    });
  }

  const pointed = ['s;v;y', 'f;1.0;1', 'f;0;1', 'm;1;0', 'm;0.0;0', 'm;0;1'];
  const labelled: [title: string, request: object][] = [
    ['decisions', { yPred: 'v' }],
    ['decisions with a positive label', { yPred: 'v', positiveLabel: '1' }],
    ['true labels', { yPred: 'y', yTrue: 'v' }],
    ['true labels with a positive label', { yPred: 'y', yTrue: 'v', yTruePositiveLabel: '1' }],
    ['true labels beside scores', { score: 'y', yTrue: 'v', positiveLabel: '1' }],
  ];
  for (const [title, request] of labelled) {
    it(`are refused with a decimal point in ${title}, because '1.0' would not be the label 1`, async () => {
      const file = write('pointed.csv', pointed);
      for (const backend of ['duckdb', 'native'] as const) {
        const error = await errorOf(
          validateFile(file, { attributes: [['s']], minGroupSize: 1, decimal: ',', backend, ...request }),
        );
        expect(error?.message, backend).to.equal(
          "Column 'v' holds '1.0' in row 1, which contains a point, but the decimal separator is a comma.",
        );
        expect(error?.suggestion, backend).to.equal(
          "Write '1' or '1,0'. If points separate the decimals of this file, leave out the decimal separator (decimal).",
        );
        expect(error?.context, backend).to.include({ column: 'v', value: '1.0', row: '1' });
      }
    });
  }

  it('are refused with a decimal point in labels of subgroups', async () => {
    const error = await errorOf(
      findSubgroups(
        { paths: write('pointed.csv', pointed), decimal: ',' },
        { columns: ['s'], yPred: 'v', positiveLabel: '1', minGroupSize: 2 },
      ),
    );
    expect(error?.message).to.include("Column 'v' holds '1.0' in row 1, which contains a point");
  });

  const advice: [value: string, suggestion: string][] = [
    ['0.0', "Write '0' or '0,0'. If points"],
    ['-0.50', "Write '-0,50'. If points"],
    ['1.234', "Write '1234' if the point separates thousands, or '1,234' if it separates decimals. If points"],
    ['1.234.567', "Write '1234567', without separators of thousands."],
    ['1.234,5', "Write '1234,5', without separators of thousands."],
  ];
  for (const [value, suggestion] of advice) {
    it(`are suggested instead of '${value}'`, async () => {
      const error = await errorOf(loadData(write('advice.csv', ['s;v', 'f;2', `m;${value}`]), { decimal: ',' }));
      expect(error?.message).to.equal(
        `Column 'v' holds '${value}' in row 2, which contains a point, but the decimal separator is a comma.`,
      );
      expect(error?.suggestion).to.satisfy((text: string) => text.startsWith(suggestion));
    });
  }

  const texts: [title: string, values: string[]][] = [
    ['dates', ['01.02.2026', '31.12.2026']],
    ['dates with a time', ['01.02.2026 08:30', '1.12.26 17:05']],
    ['dates without a century, or without a year', ['01.02.26', '31.12.']],
    ['dates with the year first', ['2026.02.01', '2026.12.31']],
    ['versions', ['1.10.0', '2.0.1']],
  ];
  for (const [title, [first = '', second = '']] of texts) {
    it(`stand beside columns of ${title}, which are texts`, async () => {
      const file = write('texts.csv', ['d;v;s;y', `${first};0,5;f;1`, `${second};0,75;m;0`]);
      const expected = { d: [first, second], v: [0.5, 0.75], s: ['f', 'm'], y: [1, 0] };
      expect((await loadData(file, { decimal: ',' })).toColumns()).to.deep.equal(expected);
    });
  }

  it('are not read without the option', async () => {
    const file = write('points.csv', ['s;v', 'f;0,5', 'm;0,75']);
    expect(await messageOf(validateFile(file, { attributes: [['s']], score: 'v' }))).to.include("row 1 holds '0,5'");
    expect((await loadData(file)).column('v').kind).to.equal('categorical');
  });

  it('exist only in text files', async () => {
    const file = path.join(folder(), 'a.parquet');
    await runDuckDb(`COPY (SELECT 1.5 AS a) TO '${file}'`);
    expect(await messageOf(loadData(file, { decimal: ',' }))).to.include('a decimal separator is only for text files');
  });

  it('can be set in a configuration', () => {
    expect(parsePipelineConfig({ sensitive: 's', decimal: ',' }).decimal).to.equal(',');
    expect(() => parsePipelineConfig({ sensitive: 's', decimal: ';' as never })).to.throw(/decimal/);
  });
});
