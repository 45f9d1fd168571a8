import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { guessPositiveLabel } from '../../src/table/guess-columns.ts';
import { loadData } from '../../src/io/load-data.ts';
import { describeWithBrowser, findingsOfAxe } from '../helpers/browser.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';
import { useBuiltPage, giveFile, openWorkbench, saved, textOf, type WorkbenchKind } from '../helpers/workbench.ts';
import { CSV_CASES } from '../table/csv-cases.ts';

/** Audits of reference data: the settings in the address of the page, and the options of the command. */
const AUDITS: readonly { file: string; hash: string; args: readonly string[] }[] = [
  {
    file: 'compas.csv',
    hash: 'decision=two_year_recid&group=race&group=sex&limit=demographic_parity_difference:0.1',
    args: [
      ...['--y-pred', 'two_year_recid', '--sensitive', 'race', '--sensitive', 'sex'],
      ...['--metric', 'demographic_parity_ratio', '--metric', 'demographic_parity_difference<=0.1'],
    ],
  },
  {
    file: 'compas.csv',
    hash: 'score=decile_score&score_threshold=5&truth=two_year_recid&group=race&limit=equalized_odds_difference:0.2',
    args: [
      ...['--score', 'decile_score', '--score-threshold', '5', '--y-true', 'two_year_recid', '--sensitive', 'race'],
      ...['--metric', 'demographic_parity_ratio', '--metric', 'equal_opportunity_difference'],
      ...['--metric', 'predictive_parity_difference', '--metric', 'roc_auc_difference'],
      ...['--metric', 'equalized_odds_difference<=0.2'],
    ],
  },
  {
    file: 'adult.train.csv',
    hash: 'decision=income-per-year&positive=%3E50K&group=sex&group=race&crossed=1&control=education&limit=demographic_parity_ratio:0.8',
    args: [
      ...['--y-pred', 'income-per-year', '--positive-label', '>50K', '--control', 'education'],
      ...['--sensitive', 'sex', '--sensitive', 'race', '--sensitive', 'sex,race'],
      ...['--metric', 'demographic_parity_ratio>=0.8'],
    ],
  },
  {
    file: 'adult.train.csv',
    hash: 'decision=income-per-year&positive=%3E50K&group=race&weight=fnlwgt&min_group_size=400',
    args: [
      ...['--y-pred', 'income-per-year', '--positive-label', '>50K', '--sensitive', 'race'],
      ...['--sample-weight', 'fnlwgt', '--min-group-size', '400', '--metric', 'demographic_parity_ratio'],
    ],
  },
  {
    file: 'adult.train.csv',
    hash: 'decision=income-per-year&positive=%3E50K&group=sex&cluster=native-country',
    args: [
      ...['--y-pred', 'income-per-year', '--positive-label', '>50K', '--sensitive', 'sex'],
      ...['--cluster', 'native-country', '--metric', 'demographic_parity_ratio'],
    ],
  },
  {
    file: 'ACS_sample.test.parquet',
    hash: 'decision=PINCP&group=SEX&group=RAC1P',
    args: ['--y-pred', 'PINCP', '--sensitive', 'SEX', '--sensitive', 'RAC1P', '--metric', 'demographic_parity_ratio'],
  },
];

/** Compares two values that were made of JSON. Numbers may differ by 1e-12 of their size. */
function expectClose(actual: unknown, expected: unknown, place: string): void {
  if (typeof actual === 'number' && typeof expected === 'number') {
    expect(Math.abs(actual - expected), place).to.be.at.most(1e-12 * Math.max(1, Math.abs(expected)));
  } else if (typeof actual === 'object' && typeof expected === 'object' && actual !== null && expected !== null) {
    expect(Object.keys(actual), place).to.have.members(Object.keys(expected));
    for (const [key, value] of Object.entries(expected)) {
      expectClose((actual as Record<string, unknown>)[key], value, `${place}.${key}`);
    }
  } else expect(actual, place).to.equal(expected);
}

function withoutManifest(text: string): unknown {
  const { manifest: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return rest;
}

/** Returns the checksums of the data, of which a result was made. */
function checksumsIn(text: string): unknown[] {
  const { manifest } = JSON.parse(text) as { manifest: { inputs: { sha256: string; bytes: number }[]; rows: number } };
  return [...manifest.inputs.map(({ sha256, bytes }) => ({ sha256, bytes })), manifest.rows];
}

/** Checks a saved report with `evenhand verify`, without and with the data. */
async function expectVerified(data: string, file: string, report: string): Promise<void> {
  writeFileSync(file, report);
  for (const args of [['--counts-only'], ['--csv', data]]) {
    const { code, stdout } = await runCli(['verify', file, ...args]);
    expect(code, stdout).to.equal(0);
  }
}

describeWithBrowser('the Audit page', (browser) => {
  const folder = useTemporaryFolder();
  const page = useBuiltPage();

  describeWithReference('gives the numbers of the command line', () => {
    for (const kind of ['hosted', 'self-contained'] as const satisfies readonly WorkbenchKind[]) {
      for (const { file, hash, args } of AUDITS) {
        it(`for ${file} in the ${kind} page: ${hash}`, async function () {
          this.timeout(120_000);
          const data = referencePath('data', file);
          const opened = await openWorkbench(browser(), {
            kind,
            file: page(),
            hash: `#audit?${hash}`,
          });
          try {
            await giveFile(opened, data, 60_000);
            const own = await saved(opened, folder(), 'Result (JSON)', '.json');
            const command = await runCli(['validate', '--csv', data, ...args, '--json'], {});
            expectClose(withoutManifest(own), withoutManifest(command.stdout), 'result');
            expect(checksumsIn(own)).to.deep.equal(checksumsIn(command.stdout));
            await expectVerified(data, path.join(folder(), 'result.json'), own);
            const report = await saved(opened, folder(), 'Report (HTML)', '.html');
            await expectVerified(data, path.join(folder(), 'report.html'), report);
            expect(opened.problems).to.deep.equal([]);
          } finally {
            await opened.close();
          }
        });
      }
    }
  });

  it('reads text tables as the command line does', async function () {
    this.timeout(120_000);
    const opened = await openWorkbench(browser(), { kind: 'hosted' });
    try {
      // The same worker that the page starts.
      await opened.page.evaluate(`(async () => {
        const page = await (await fetch('./')).text();
        const script = await (await fetch(/src="([^"]+\\.js)"/.exec(page)[1])).text();
        const worker = new Worker(new URL(/worker-[\\w-]+\\.js/.exec(script)[0], new URL('./assets/', location.href)), { type: 'module' });
        let next = 0;
        globalThis.ask = (name, args) => new Promise((resolve) => {
          const id = ++next;
          worker.addEventListener('message', function listen({ data }) {
            if (data.id !== id || data.kind === 'progress') return;
            worker.removeEventListener('message', listen);
            resolve(data);
          });
          worker.postMessage({ id, name, args });
        });
      })()`);
      for (const [title, text] of Object.entries(CSV_CASES)) {
        const file = path.join(folder(), 'rows.csv');
        writeFileSync(file, text);
        const expected = await loadData(file).then(
          (table) => {
            const name = table.columnNames.at(-1) ?? '';
            return { name, counts: guessPositiveLabel(table.column(name)).counts, rows: table.rowCount };
          },
          (error: unknown) => ({ problem: (error as Error).message.replaceAll(file, 'rows.csv').toLowerCase() }),
        );
        const answer = await opened.page.evaluate(`(async () => {
          const opened = await ask('open', [new File([${JSON.stringify(text)}], 'rows.csv')]);
          if (opened.kind === 'problem') return { problem: opened.problem.message.toLowerCase() };
          const name = opened.value.columns.at(-1).name;
          const labels = await ask('labels', [name]);
          if (labels.kind === 'problem') return { problem: labels.problem.message.toLowerCase() };
          return { name, counts: labels.value.counts, rows: opened.value.rowCount };
        })()`);
        expect(answer, title).to.deep.equal(expected);
      }
    } finally {
      await opened.close();
    }
  });

  it('opens the file of evenhand view, guesses its columns and leads to a verdict', async function () {
    this.timeout(60_000);
    const file = path.join(folder(), 'loans & more.csv');
    const rows = Array.from({ length: 400 }, (_, row) =>
      [row % 2 === 0 ? 'female' : 'male', row % 5 < 2 + (row % 2) ? 'yes' : 'no'].join(','),
    );
    writeFileSync(file, `sex,approved\n${rows.join('\n')}\nmale,\n`);
    const opened = await openWorkbench(browser(), { kind: 'hosted', offered: file });
    try {
      await opened.page.waitForSelector('.made');
      expect(await textOf(opened, 'h1')).to.equal('loans & more.csv');
      expect(await textOf(opened, '.verdict h2')).to.include('Failed: the limit does not hold');
      expect(await textOf(opened, '.verdict .plain')).to.include('60 of 100');
      expect(await textOf(opened, '.attribute .note')).to.match(
        /Not compared\s*1 row without a value that a measure needs/,
      );
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });

  it('gives no verdict unasked on outcomes if no column looks like decisions', async function () {
    this.timeout(60_000);
    const file = path.join(folder(), 'outcomes.csv');
    const rows = Array.from({ length: 400 }, (_, row) => [row % 2 === 0 ? 'f' : 'm', row % 3 === 0 ? 1 : 0, row % 5 < 2 ? 1 : 0].join()); // prettier-ignore
    writeFileSync(file, ['sex,d,label', ...rows].join('\n'));
    const opened = await openWorkbench(browser(), { kind: 'hosted', offered: file });
    try {
      await opened.page.waitForSelector('.made');
      expect(await textOf(opened, '.verdict h2')).not.to.match(/Passed|Failed/);
      expect(await textOf(opened, '.guess')).to.include('No column looks like decisions');
    } finally {
      await opened.close();
    }
  });

  it('notes people with several rows as the command line does, until they are chosen', async function () {
    this.timeout(60_000);
    const file = path.join(folder(), 'visits.csv');
    const rows = Array.from({ length: 600 }, (_, row) =>
      [`p${String(row % 60)}`, row % 2 === 0 ? 'f' : 'm', row % 3 === 0 ? 1 : 0].join(','),
    );
    writeFileSync(file, ['person,sex,approved', ...rows].join('\n'));
    const hash = '#audit?decision=approved&group=sex';
    const opened = await openWorkbench(browser(), { kind: 'hosted', hash });
    try {
      await giveFile(opened, file, 30_000);
      expect(await textOf(opened, '[aria-labelledby=data-notes]')).to.match(
        /^Before you quote these values\s*Column 'person' has about 10\.0 rows for each of its values\..*\(--cluster person\)/,
      );
      const args = ['--y-pred', 'approved', '--sensitive', 'sex', '--metric', 'demographic_parity_ratio'];
      const command = await runCli(['validate', '--csv', file, ...args, '--json']);
      const own = await saved(opened, folder(), 'Result (JSON)', '.json');
      expectClose(withoutManifest(own), withoutManifest(command.stdout), 'result');
      await expectVerified(file, path.join(folder(), 'visits.json'), own);
      await opened.page.select('#cluster', 'person');
      await opened.page.waitForFunction("document.querySelector('[aria-labelledby=data-notes]') === null");
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });

  it('says how to fix a file that it cannot read', async () => {
    const file = path.join(folder(), 'ragged.csv');
    writeFileSync(file, 'sex,approved\nf,1\nm\n');
    const latin = path.join(folder(), 'latin.csv');
    writeFileSync(latin, Buffer.from('sex,approved\nm\u00e4nnlich,1\n', 'latin1'));
    const workbook = path.join(folder(), 'book.xlsx');
    writeFileSync(workbook, Buffer.from('PK\u0003\u0004 and more bytes', 'latin1'));
    const opened = await openWorkbench(browser(), { kind: 'hosted' });
    const problem = async (given: string) => {
      await giveFile(opened, given);
      const text = await textOf(opened, '.problem');
      await opened.page.reload();
      await opened.page.waitForSelector('.drop');
      return text;
    };
    try {
      expect(await problem(file))
        .to.include('line 3: it has 1 field where the header has 2')
        .and.to.include('Fix');
      expect(await problem(latin))
        .to.include('is not UTF-8 (the byte at offset 14)')
        .and.to.include('Save');
      expect(await problem(workbook))
        .to.include('a workbook')
        .and.to.include('CSV UTF-8');
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });

  for (const scheme of ['light', 'dark'] as const) {
    it(`has no finding of axe and no sideways scrolling, in ${scheme} colours`, async function () {
      this.timeout(120_000);
      const opened = await openWorkbench(browser(), { kind: 'hosted' });
      const tab = opened.page;
      try {
        await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        expect(await findingsOfAxe(tab), 'empty').to.deep.equal([]);
        await tab.evaluate(`document.querySelector('.sample').click()`);
        await tab.waitForSelector('figure img');
        await tab.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
        expect(await findingsOfAxe(tab), 'with a result').to.deep.equal([]);
        for (const width of [360, 800, 1440]) {
          await tab.setViewport({ width, height: 900 });
          const isWide = () =>
            tab.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
          await until(async () => (await isWide()) === false, 5);
        }
        expect(opened.problems).to.deep.equal([]);
      } finally {
        await opened.close();
      }
    });
  }

  it('can be used with the keyboard alone', async function () {
    this.timeout(60_000);
    const opened = await openWorkbench(browser(), { kind: 'hosted' });
    const tab = opened.page;
    const focused = () =>
      tab.evaluate(`document.activeElement.textContent || document.activeElement.id`) as Promise<string>;
    try {
      for (let step = 0; step < 8 && !(await focused()).startsWith('Loans'); step++) await tab.keyboard.press('Tab');
      await tab.keyboard.press('Enter');
      await tab.waitForSelector('.made');
      expect(await focused()).to.equal('loans.csv');
      await tab.focus('#limit-demographic_parity_difference');
      const before = await textOf(opened, '.verdict h2');
      await tab.keyboard.down('Control');
      await tab.keyboard.press('a');
      await tab.keyboard.up('Control');
      await tab.keyboard.type('0.9');
      await tab.keyboard.press('Tab');
      await until(async () => (await textOf(opened, '.verdict h2')) !== before);
      expect(await textOf(opened, '.verdict h2')).to.include('Passed: all 3 limits hold');
      await tab.focus('#threshold-slider');
      const gap = await textOf(opened, '.rates');
      for (let press = 0; press < 20; press++) await tab.keyboard.press('ArrowRight');
      await until(async () => (await textOf(opened, '.rates')) !== gap);
      expect(opened.problems).to.deep.equal([]);
    } finally {
      await opened.close();
    }
  });
});
