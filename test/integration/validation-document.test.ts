import { expect } from 'chai';

import { documentToMarkdown } from '../../src/document/document-to-markdown.ts';
import type { ReportBlock, ReportDocument, ReportTable } from '../../src/document/report-document.ts';
import { validateRowsNow, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { validationDocument } from '../../src/integration/validation-document.ts';

/** The groups of a made-up attribute: the number of rows and of positive decisions. */
type Groups = Readonly<Record<string, readonly [n: number, selected: number]>>;

/** Returns rows of decisions; the first rows of each group are selected, and every second row is truly positive. */
function rowsOf(groups: Groups): Pick<ValidateRowsInput, 'yPred' | 'yTrue'> & { readonly labels: string[] } {
  const rows = Object.entries(groups).flatMap(([label, [n, selected]]) =>
    Array.from({ length: n }, (_, row) => ({ label, decided: Number(row < selected), truth: row % 2 })),
  );
  return {
    yPred: rows.map(({ decided }) => decided),
    yTrue: rows.map(({ truth }) => truth),
    labels: rows.map(({ label }) => label),
  };
}

/** Returns the document of a validation by the attribute `sex`. */
function documentOf(
  groups: Groups,
  options: Partial<ValidateRowsInput> = {},
  detail: 'summary' | 'full' = 'summary',
): ReportDocument {
  const { yPred, labels } = rowsOf(groups);
  const validation = validateRowsNow({ yPred, sensitive: { sex: labels }, withCi: false, ...options });
  return validationDocument(validation, { source: 'data.csv', detail });
}

const blocksOf = ({ sections }: ReportDocument): ReportBlock[] => sections.flatMap(({ blocks }) => blocks);
const tablesOf = (report: ReportDocument): ReportTable[] => blocksOf(report).filter((block) => block.kind === 'table');
const notesOf = (report: ReportDocument): string[] =>
  blocksOf(report).flatMap((block) => (block.kind === 'note' ? block.items : []));

const SEX: Groups = { female: [100, 30], male: [200, 100] };
const GATE = { metric: 'demographic_parity_difference', threshold: 0.1 };

describe('the document of a validation', () => {
  it('begins with the verdict and the message of each gate', () => {
    expect(documentOf(SEX, GATE).verdict).to.deep.equal({
      kind: 'fail',
      title: 'FAIL',
      sentences: ['sex: FAIL: demographic_parity_difference 0.2000 > 0.1.'],
    });
    expect(documentOf(SEX, { ...GATE, threshold: 0.3 }).verdict).to.include({ kind: 'pass', title: 'PASS' });
    expect(documentOf(SEX).verdict).to.include({ kind: 'none', title: 'No threshold, no verdict' });
  });

  it('is UNDEFINED, and does not pass, if no gate fails but a metric is undefined', () => {
    const { verdict } = documentOf({ only: [100, 40] }, GATE);
    expect(verdict).to.include({ kind: 'undefined', title: 'UNDEFINED' });
    expect(verdict?.sentences[0]).to.include('has no value (only one group with at least 30 rows');
    const both = { metric: ['demographic_parity_difference<=0.1', 'equal_opportunity_difference<=0.1'] };
    // Without a positive true label no group has a true positive rate.
    const failed = documentOf(SEX, { ...both, yTrue: Array.from({ length: 300 }, () => 0) }).verdict;
    expect(failed).to.include({ kind: 'fail', title: 'FAIL' });
  });

  it('lists failed gates before those that passed', () => {
    const metric = ['demographic_parity_ratio>=0.5', 'demographic_parity_difference<=0.1'];
    const sentences = documentOf(SEX, { metric }).verdict?.sentences ?? [];
    expect(sentences.map((sentence) => /: (PASS|FAIL)/.exec(sentence)?.[1])).to.deep.equal(['FAIL', 'PASS']);
  });

  it('ends the verdict of a pass with a sentence that points to its notes', () => {
    const equal: Groups = { female: [100, 100], male: [100, 100] };
    const warned = documentOf(equal, GATE);
    expect(notesOf(warned)).to.have.length(1);
    expect(warned.verdict?.sentences).to.deep.equal([
      'sex: PASS: demographic_parity_difference 0.0000 <= 0.1.',
      'Before you rely on this verdict, read the note below.',
    ]);
    const measured = documentOf(equal);
    expect(measured.verdict?.sentences).to.deep.equal(['This report measures and does not judge.']);
    for (const [groups, threshold] of [
      [SEX, 0.3],
      [SEX, 0.1],
    ] as const) {
      expect(documentOf(groups, { ...GATE, threshold }).verdict?.sentences).to.have.length(1);
    }
  });

  it('has a table of metrics with value, interval and the two groups', () => {
    const [metrics] = tablesOf(documentOf(SEX, { metric: 'demographic_parity_ratio' }));
    expect(metrics?.columns.map(({ name }) => name)).to.deep.equal(['Metric', 'Value', 'Interval', 'Between']);
    expect(metrics?.rows).to.deep.equal([
      ['Demographic parity difference', '0.2000', 'none', 'male and female'],
      ['Demographic parity ratio', '0.6000', 'none', 'male and female'],
    ]);
    const [withCi] = tablesOf(documentOf(SEX, { withCi: true }));
    expect(withCi?.columns[2]?.name).to.equal('95% interval');
    expect(withCi?.rows[0]?.[2]).to.match(/^0\.\d{4} to 0\.\d{4}$/);
  });

  it('has one table of groups for all metrics of an attribute, with the number of rows', () => {
    // Positive decisions are the first rows of a group, and every second row is truly positive: half of the selected
    // rows and half of all rows.
    const { yTrue } = rowsOf(SEX);
    const [, groups, ...others] = tablesOf(documentOf(SEX, { yTrue }));
    expect(others).to.deep.equal([]);
    expect(groups?.caption).to.equal('Groups by sex');
    expect(groups?.columns.map(({ name }) => name)).to.deep.equal([
      'Group',
      'n',
      'Selection rate',
      'True positive rate',
      'False positive rate',
    ]);
    expect(groups?.rows).to.deep.equal([
      ['female', '100', '30.00%', '30.00%', '30.00%'],
      ['male', '200', '50.00%', '50.00%', '50.00%'],
    ]);
  });

  it('lists excluded groups, dropped rows and reasons once, although several metrics have them', () => {
    const { yPred, labels } = rowsOf({ ...SEX, '<tiny>': [7, 3] });
    const validation = validateRowsNow({
      yPred: [...(yPred as number[]), null],
      sensitive: { sex: [...labels, 'male'] },
      metric: 'demographic_parity_ratio',
    });
    const notes = notesOf(validationDocument(validation, { source: 'data.csv', detail: 'summary' }));
    expect(notes).to.include('<tiny> (7 rows): fewer than 30 rows');
    expect(notes.filter((note) => note.includes('tiny'))).to.have.length(1);
    expect(notes.filter((note) => note.startsWith('1 row was excluded because it lacks a decision'))).to.have.length(1);
  });

  it('names the attribute of a note if others do not have it', () => {
    const { yPred, labels } = rowsOf({ ...SEX, tiny: [7, 3] });
    const race = labels.map((_, row) => (row % 2 === 0 ? 'x' : 'y'));
    const validation = validateRowsNow({ yPred, sensitive: { sex: labels, race } });
    const report = validationDocument(validation, { source: 'data.csv', detail: 'summary' });
    expect(notesOf(report)).to.include('sex: tiny (7 rows): fewer than 30 rows');
    expect(tablesOf(report)[0]?.rows.map(([attribute]) => attribute)).to.deep.equal(['sex', 'race']);
  });

  it('gives the reason of an undefined metric also without a gate', () => {
    const report = documentOf({ only: [100, 40] });
    expect(tablesOf(report)[0]?.rows[0]?.slice(0, 2)).to.deep.equal(['Demographic parity difference', 'undefined']);
    expect(notesOf(report).join()).to.include('only one group with at least 30 rows');
  });

  it('says so if no group can be compared', () => {
    expect(notesOf(documentOf({ a: [5, 1], b: [5, 1] })).join()).to.include('no group with at least 30 rows');
  });

  it('shows both ends of many groups in the summary, and all in the full report', () => {
    const many: Groups = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`c${String(index).padStart(2, '0')}`, [60, index]]),
    );
    const [, short] = tablesOf(documentOf(many));
    expect(short?.caption).to.equal('Groups by sex: the 10 lowest and the 10 highest by selection rate, of 60 groups');
    expect(short?.rows.map(([label]) => label).slice(8, 12)).to.deep.equal(['c08', 'c09', 'c50', 'c51']);
    const [, all] = tablesOf(documentOf(many, {}, 'full'));
    expect(all?.rows).to.have.length(60);
  });

  it('ends the summary with one sentence on what the values do not say', () => {
    const last = blocksOf(documentOf(SEX)).at(-1);
    expect(last).to.deep.equal({
      kind: 'paragraph',
      text: 'A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ.',
    });
  });

  it('adds intervals of groups, facts of each metric and explanations in the full report', () => {
    const report = documentOf(SEX, { withCi: true, withPValue: true, withEffects: true }, 'full');
    // Wilson's intervals from R: prop.test(30, 100, correct = FALSE) and prop.test(100, 200, correct = FALSE).
    expect(tablesOf(report)[1]?.rows).to.deep.equal([
      ['female', '100', '30.00% (21.89% to 39.58%)'],
      ['male', '200', '50.00% (43.14% to 56.86%)'],
    ]);
    const markdown = documentToMarkdown(report);
    for (const fact of [
      '20.00 percentage points',
      '1.67',
      'permutation',
      'Minimum detectable difference',
      'How to read this',
    ]) {
      expect(markdown).to.include(fact);
    }
    expect(documentToMarkdown(documentOf(SEX))).to.not.include('Minimum detectable difference');
  });

  it('shows labels unchanged, and never as markup', () => {
    const markdown = documentToMarkdown(
      documentOf({ '**bold**|<b>': [100, 30], '\u001b[31mred': [100, 40] }, {}, 'full'),
    );
    expect(markdown).to.include('\\*\\*bold\\*\\*\\|\\<b\\>').and.not.include('\u001b');
  });
});
