import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, DependencyError } from '../../../src/exceptions/index.ts';
import {
  assertReportPath,
  type DetectorReport,
  plotProxies,
  runDetectors,
  writeDetectorReport,
} from '../../../src/pipeline/detectors/index.ts';
import { reportToHtml } from '../../../src/pipeline/detectors/report-html.ts';
import { formatStatistic, pValueText as formatPValue } from '../../../src/internal/format.ts';
import { Table } from '../../../src/table/index.ts';

const HOSTILE = 'a|b\n<script>alert(1)</script>';

/** Groups and columns with unusual names and labels. */
async function hostileReport(): Promise<DetectorReport> {
  const rows = Array.from({ length: 80 }, (_, row) => row);
  const column = (labels: readonly string[]) => ({
    kind: 'categorical' as const,
    codes: Int32Array.from(rows, (row) => Number(row >= 40)),
    labels,
  });
  const table = Table.ofColumns([
    ['__proto__', column([HOSTILE, '__proto__'])],
    ['constructor', column(['{b}', 'toString'])],
    ['exact|number', { kind: 'numeric', values: Float64Array.from(rows, (row) => Number(row >= 40)) }],
  ]);
  return runDetectors(table, { sensitive: ['__proto__'], benchmarks: { ['__proto__']: { [HOSTILE]: 0.5 } } });
}

const plain = () =>
  runDetectors(
    {
      sex: Array.from({ length: 200 }, (_, row) => (row < 100 ? 'f' : 'm')),
      job: Array.from({ length: 200 }, (_, row) => (row % 10 === 0 ? 'clerk' : row < 100 ? 'nurse' : 'smith')),
      wage: Array.from({ length: 200 }, (_, row) => (row % 50 === 0 ? null : row % 17)),
    },
    { sensitive: ['sex'], benchmarks: { sex: { f: 0.6, m: 0.4 } } },
  );

describe('the report of the detectors', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-detectors-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('is deeply frozen', async () => {
    const report = await plain();
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    expect(isFrozen(report)).to.equal(true);
  });

  it('has snake_case names in JSON, and null with a reason for an undefined number', async () => {
    const { meta, body } = JSON.parse(JSON.stringify(await plain())) as Record<string, Record<string, unknown>>;
    expect(meta).to.include({ rows: 200, alpha: 0.05, proxy_threshold: 0.3, target: null });
    expect(Object.keys(body ?? {})).to.have.members(['summary', 'representation', 'disparities', 'missingness', 'proxies', 'associations']); // prettier-ignore
    const keys = (value: unknown): string[] =>
      typeof value !== 'object' || value === null
        ? []
        : [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(keys)];
    expect(keys({ meta, body }).filter((key) => !/^[a-z_]+$/.test(key))).to.deep.equal([]);
    const { body: unbenchmarked } = (await runDetectors({ sex: ['f', 'm'] }, { sensitive: ['sex'] })).toJSON();
    const [fit] = (unbenchmarked as { representation: Record<string, unknown>[] }).representation;
    expect(fit).to.include({ statistic: null, p_value: null, reason: 'there is no benchmark' });
  });

  it('has the reason in JSON if an infinite statistic is null', async () => {
    const sure = { sex: ['f', 'f', 'm', 'm'], x: [1.5, 1.5, 2.5, 2.5] };
    const { body } = (await runDetectors(sure, { sensitive: ['sex'] })).toJSON();
    const [found] = (body as { disparities: Record<string, unknown>[] }).disparities;
    expect(found).to.deep.include({ statistic: null, p_value: 0 });
    expect(found?.['notes']).to.include('no group has any spread, so F is infinite');
  });

  it('is the same for the same data', async () => {
    expect(JSON.stringify(await plain())).to.equal(JSON.stringify(await plain()));
    expect((await plain()).toMarkdown()).to.equal((await plain()).toMarkdown());
  });

  it('states the findings as sentences, the largest first, and claims no more than was tested', async () => {
    const report = await plain();
    const { findings, ...counts } = report.body.summary;
    expect(counts).to.deep.equal({
      representationFlagged: 1,
      disparitiesFlagged: 1,
      missingnessFlagged: 0,
      proxiesFound: 1,
    });
    expect(findings).to.have.length(3);
    expect(findings.join('\n')).to.not.match(/bias|unfair|discriminat/i);
    expect(findings[2]).to.equal(
      "The shares of the groups of sex differ from the benchmark (p = 0.004); the farthest is 'f', with 50.0% of rows against 60.0%.",
    );
  });

  it('has a section for every detector in Markdown', async () => {
    const markdown = (await plain()).toMarkdown();
    const headings = markdown.split('\n').filter((line) => line.startsWith('## '));
    expect(headings).to.deep.equal(['## Findings', '## Representation', '## Disparities', '## Missing values', '## Proxies']); // prettier-ignore
    expect(markdown).to.not.match(/NaN|Infinity|null|\[object/);
  });

  it('keeps hostile names and labels as text, in every format', async () => {
    const report = await hostileReport();
    const markdown = report.toMarkdown();
    expect(markdown)
      .to.include('\\_\\_proto\\_\\_')
      .and.not.include('<script>')
      .and.not.match(/[^\\]\|b/);
    const lines = markdown.split('\n').filter((line) => line.startsWith('|'));
    const cells = lines.map((line) => line.replaceAll(/\\\|/g, '').split('|').length);
    expect(new Set(cells.slice(0, 4))).to.have.property('size', 1);
    expect(report.body.proxies.map(({ column }) => column)).to.have.members(['constructor', 'exact|number']);
    const file = path.join(folder, 'hostile.html');
    await writeDetectorReport(report, file);
    const html = readFileSync(file, 'utf8');
    expect(html).to.not.include('<script');
    expect(html).to.include('&lt;script&gt;');
    expect(html).to.include('<svg role="img"');
    expect(({} as Record<string, unknown>)['width']).to.equal(undefined);
  });

  it('shows the beginning of long tables with a note', async () => {
    const groups = Array.from({ length: 500 }, (_, row) => `g${row % 100}`);
    const markdown = (await runDetectors({ groups }, { sensitive: ['groups'] })).toMarkdown();
    expect(markdown).to.include('40 more rows are in the JSON report.');
    expect(markdown.split('\n').filter((line) => line.startsWith('| g'))).to.have.length(61);
  });

  it('is written as .md, .json and .html; any other extension is rejected before writing', async () => {
    const report = await plain();
    for (const name of ['report.md', 'report.JSON', 'sub/report.html']) {
      await writeDetectorReport(report, path.join(folder, name));
    }
    expect(readFileSync(path.join(folder, 'report.md'), 'utf8')).to.equal(report.toMarkdown());
    expect(JSON.parse(readFileSync(path.join(folder, 'report.JSON'), 'utf8'))).to.deep.equal(
      JSON.parse(JSON.stringify(report)),
    );
    expect(readFileSync(path.join(folder, 'sub/report.html'), 'utf8')).to.not.match(/(?:src|href)=/);
    expect(() => {
      assertReportPath('report.docx');
    })
      .to.throw(DataValidationError, "A report cannot be written as 'report.docx': its extension is '.docx'.")
      .with.property('suggestion', 'End the name in .md, .json or .html.');
  });

  it('has tables and a note if the package for charts is missing', async () => {
    const html = await reportToHtml(await plain(), () =>
      Promise.reject(new DependencyError("The package 'echarts' cannot be loaded.", { suggestion: 'Install it.' })),
    );
    expect(html).to.include('tables but no chart: The package &#39;echarts&#39; cannot be loaded. Install it.');
    expect(html).to.include('<table>').and.not.include('<svg');
  });

  it('is plotted as a heat map, and throws if there is nothing to plot', async () => {
    const file = path.join(folder, 'proxies.svg');
    expect(await plotProxies(await plain(), { savePath: file, title: 'By sex' })).to.equal(file);
    const svg = readFileSync(file, 'utf8');
    for (const text of ['By sex', 'job', 'wage', 'sex']) expect(svg).to.include(`>${text}<`);
    const nothing = await runDetectors({ sex: ['f', 'm'] }, { sensitive: ['sex'] });
    const thrown: unknown = await plotProxies(nothing, { savePath: file }).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(DataValidationError);
  });
});

describe('numbers of the report', () => {
  for (const [p, text] of [
    [0, '< 0.001'],
    [1e-300, '< 0.001'],
    [0.001, '0.001'],
    [0.049_51, '0.050'],
    [1, '1.000'],
    [NaN, 'undefined'],
  ] as const) {
    it(`the p-value ${p} is printed as ${text}`, () => {
      expect(formatPValue(p)).to.equal(text);
    });
  }

  for (const [value, text] of [
    [14.400_000_1, '14.4'],
    [0.000_012, '1.20e-5'],
    [0, '0'],
    [3728.95, '3,729'],
    [-36.410_36, '-36.41'],
    [Infinity, 'no bound'],
    [NaN, 'undefined'],
  ] as const) {
    it(`the statistic ${value} is printed as ${text}`, () => {
      expect(formatStatistic(value)).to.equal(text);
    });
  }
});
