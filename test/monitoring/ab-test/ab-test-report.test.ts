import { expect } from 'chai';

import { documentToText } from '../../../src/document/document-to-text.ts';
import { displayWidth } from '../../../src/document/text-width.ts';
import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { abTestDocument } from '../../../src/monitoring/ab-test/ab-test-document.ts';
import { FairnessABTestAnalyzer } from '../../../src/monitoring/ab-test/index.ts';
import { armOf } from './made-arms.ts';

const LAYOUT = { width: 60, colours: false };

const bySex = (options: Partial<ConstructorParameters<typeof FairnessABTestAnalyzer>[0]> = {}) =>
  new FairnessABTestAnalyzer({ protected: ['sex'], outcome: 'approved', ...options });

const even = armOf({ f: [200, 400], m: [200, 400] });
const separate = armOf({ f: [140, 400], m: [240, 400] });
const three = [
  armOf({ f: [200, 400], m: [200, 400], x: [5, 10] }),
  armOf({ f: [140, 400], m: [240, 400], x: [5, 10] }),
];

/** Returns the text that a page shows. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<style[^>]*>.*?<\/style>/gs, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'");

const timesOf = (text: string, part: string): number => text.split(part).length - 1;

describe('the report of an A/B test', () => {
  it('has each sentence of the verdict, and each reason for an inconclusive result, once', async () => {
    for (const [control, treatment] of [[even, separate], three] as const) {
      const result = bySex().analyze(control, treatment);
      const [row] = result.rows.filter(({ finding }) => finding === 'worse');
      for (const text of [
        result.toMarkdown().replaceAll('\\', ''),
        textOf(await result.toHtml()).replaceAll('&lt;', '<'),
      ]) {
        expect(timesOf(text, row?.verdict ?? ''), text).to.equal(1);
      }
      for (const { finding, verdict } of result.rows) {
        if (finding !== 'cannot_tell') continue;
        const reason = verdict.replace('inconclusive: ', '');
        expect(timesOf(result.toMarkdown(), reason), reason).to.equal(1);
      }
    }
  });

  it('lists the findings besides the verdict', () => {
    const rows = (f: number, y: number) => [
      ...armOf({ f: [f, 400], m: [200, 400] }).map((row) => ({ ...row, race: 'x' })),
      ...armOf({ f: [y, 400], m: [200, 400] }).map((row) => ({ ...row, race: 'y' })),
    ];
    // The gap by sex grows among x, and the gap by race closes.
    const result = bySex({ protected: ['sex', 'race'] }).analyze(rows(200, 20), rows(20, 20));
    const better = result.rows.find(({ finding }) => finding === 'better');
    expect([result.finding, better?.attribute]).to.deep.equal(['worse', 'race']);
    expect(result.toMarkdown().split('## What changed')[1]).to.include(
      `race, y vs. x: ${better?.verdict ?? ''}`.split(' (adj')[0],
    );
  });

  for (const [title, [first, second]] of Object.entries({
    'short labels': ['f', 'm'],
    'labels of 80 letters': ['x'.repeat(80), 'y'.repeat(80)],
    'wide labels': ['女性'.repeat(20), '男性'.repeat(20)],
  } as const)) {
    it(`keeps the columns that the verdict rests on at 60 columns: ${title}`, () => {
      const named = (f: number, m: number) => armOf({ [first]: [f, 400], [second]: [m, 400] });
      const text = documentToText(abTestDocument(bySex().analyze(named(200, 200), named(140, 240))), LAYOUT);
      const [, changes = '', effects = '', details = ''] = text.split(/^.*(?:, and their changes|^Effect on|^Details of the pairs)/m); // prettier-ignore
      const wordsOf = (table: string): string => table.split('\n\n')[0]?.replaceAll(/\s+/g, ' ') ?? '';
      // Selection rates 0.5 and 0.5 under control, 0.35 and 0.6 under treatment: the gap grows by 0.25.
      expect(wordsOf(changes))
        .to.match(/Control Treatment Change Finding/)
        .and.match(/ 0\.0000 -?\+?0\.2500 -?\+?0\.2500 Worse/);
      expect(wordsOf(effects))
        .to.match(/Control Treatment Effect/)
        .and.match(/ 0\.5000 0\.3500 -0\.1500/);
      expect(wordsOf(details)).to.include('Change').and.include(' +0.2500 < 0.001');
      for (const line of [changes, effects, details].flatMap((table) => table.split('\n\n')[0]?.split('\n') ?? []))
        expect(displayWidth(line), line).to.be.at.most(60);
    });
  }

  it('refers to simultaneous arms by name, never as before and after', async () => {
    const html = textOf(await bySex().analyze(even, separate).toHtml());
    expect(html).to.include('Largest gap between groups: 0 under control, 0.25 under treatment');
    expect(html).to.not.match(/\b[Bb]efore is\b|\bbefore\b(?! you rely)[^.]*\bafter\b/);
  });

  it('has rates in one unit, in tables and charts', async () => {
    const html = await bySex().analyze(even, separate).toHtml();
    const pictures = html.match(/<svg.*?<\/svg>/gs) ?? [];
    expect(pictures).to.have.length(2);
    const drawn = pictures.map(textOf);
    expect(drawn[0]).to.include('-0.15').and.to.include('+0.1');
    expect(drawn[1]).to.include('0.500 \u2192 0.350').and.to.include('0.500 \u2192 0.600');
    for (const text of drawn) expect(text.replaceAll('95%', '')).to.not.match(/%|percentage points/);
  });

  it('has no empty list and no consecutive empty lines if there is only one group', () => {
    const one = bySex().analyze(armOf({ f: [50, 100] }), armOf({ f: [40, 100] }));
    expect(one.toMarkdown()).to.not.match(/\n\n\n/);
  });

  it('names an intersection with the same sign in text, titles and warnings', async () => {
    const crossed = (rows: readonly object[], skew: boolean) =>
      rows.map((row, index) => ({ ...row, race: index % (skew ? 4 : 2) === 0 ? 'x' : 'y' }));
    const analyzer = bySex({ protected: [], intersections: [['sex', 'race']] });
    const result = analyzer.analyze(crossed(even, false), crossed(separate, true));
    expect(result.warnings.join()).to.include("differs by 'sex \u00D7 race'");
    for (const text of [result.toMarkdown(), textOf(await result.toHtml())]) {
      expect(text.replaceAll('\\', '')).to.include('Selection rate by sex \u00D7 race').and.to.not.include('sex||race');
    }
    expect(result.rows[0]?.attribute, 'data stay as they are').to.equal('sex||race');
  });
});

describe('an A/B test rejects', () => {
  it('an outcome that is a sensitive column, alone or in an intersection', () => {
    for (const options of [{ protected: ['approved'] }, { intersections: [['sex', 'approved']] }]) {
      expect(() => bySex(options)).to.throw(ValueError, "The outcome 'approved' is also a sensitive column.");
    }
  });

  it('a seed below 0', () => {
    expect(() => bySex({ seed: -1 })).to.throw(ValueError, 'seed');
    expect(bySex({ seed: 0 }).settings.seed).to.equal(0);
  });

  it('a positive label that no row has, and lists the existing labels', () => {
    const labelled = (rows: readonly { readonly approved: unknown }[], as: readonly [string, string] = ['no', 'yes']) =>
      rows.map((row) => ({ ...row, approved: as[Number(row.approved)] ?? null, repaid: as[1] }));
    const analyze =
      (positiveLabel: string, rows = labelled(even), options = {}) =>
      () =>
        bySex({ positiveLabel, ...options }).analyze(rows, rows);
    expect(analyze('yes')).to.not.throw();
    expect(analyze('Yes')).to.throw(
      DataValidationError,
      "No row of either arm holds the positive label 'Yes' in column 'approved'.",
    );
    expect(analyze('Yes'))
      .to.throw(DataValidationError)
      .with.property('suggestion', "Did you mean 'yes'? The labels of 'approved' are 'no', 'yes'.");
    // All decisions may be negative if the true labels use the same words.
    const nobody = labelled(even, ['no', 'no']).map((row, index) => ({ ...row, repaid: index % 2 ? 'yes' : 'no' }));
    const truth = { yTrue: 'repaid', fairness: 'accuracy_parity_difference' };
    expect(analyze('yes', nobody, truth)).to.not.throw();
    expect(analyze('yes', nobody)).to.throw(DataValidationError, "'approved'");
    expect(analyze('paid', labelled(even), truth)).to.throw(DataValidationError, "'repaid'");
  });
});
