import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { validateRowsNow, type ValidateRowsInput } from '../../src/integration/validate-rows.ts';
import { type ValidationChanges, validationChanges } from '../../src/integration/validation-changes.ts';
import { changeBlocks } from '../../src/integration/validation-changes-document.ts';
import { parseValidationJson } from '../../src/integration/validation-from-json.ts';
import type { ReportManifest } from '../../src/document/provenance.ts';
import { validationToJson } from '../../src/integration/validation-report.ts';

type Groups = Readonly<Record<string, readonly [n: number, selected: number]>>;

/** Returns the validation of decisions: the given number of rows and of positive decisions of each group. */
function validationOf(groups: Groups, options: Partial<ValidateRowsInput> = {}) {
  const rows = Object.entries(groups).flatMap(([label, [n, selected]]) =>
    Array.from({ length: n }, (_, row) => ({ label, decided: Number(row < selected) })),
  );
  const sensitive = { sex: rows.map(({ label }) => label) };
  return validateRowsNow({ yPred: rows.map(({ decided }) => decided), sensitive, withCi: false, ...options });
}

const manifest: ReportManifest = {
  evenhand: '1.0.0',
  command: 'evenhand validate',
  options: { y_pred: 'approved', sensitive: [['sex']] },
  inputs: [{ path: 'may.csv', bytes: 10, sha256: 'a'.repeat(64) }],
  rows: 300,
};

const GATE = { metric: 'demographic_parity_difference<=0.15' };
const MAY: Groups = { female: [100, 30], male: [200, 100], other: [40, 10] };
const JUNE: Groups = { female: [100, 40], male: [200, 100], unknown: [40, 18] };

/** Compares two validations; the earlier one passes through JSON text, as a stored file does. */
function changesOf(
  earlier: Groups,
  now: Groups,
  options: Partial<ValidateRowsInput> = {},
  [before, after]: readonly [ReportManifest | undefined, ReportManifest] = [manifest, manifest],
): ValidationChanges {
  const text = JSON.stringify(validationToJson(validationOf(earlier, options), { manifest: before }));
  return validationChanges(validationOf(now, options), parseValidationJson(text, 'may.json'), after);
}

describe('changes since an earlier validation', () => {
  it('has each value then and now, the change, and the groups that are new or gone', () => {
    // Then 0.5 - 0.25, now 0.5 - 0.4.
    const { warnings, metrics, gates, groups } = changesOf(MAY, JUNE, GATE);
    expect(warnings).to.deep.equal([]);
    expect(metrics).to.have.length(1);
    expect(metrics[0]).to.include({ attribute: 'sex', metric: 'demographic_parity_difference', before: 0.25 });
    expect(metrics[0]?.after).to.be.closeTo(0.1, 1e-12);
    expect(metrics[0]?.change).to.be.closeTo(-0.15, 1e-12);
    expect(metrics[0]?.intervalsOverlap).to.equal(null);
    expect(gates).to.deep.equal([
      {
        attribute: 'sex',
        metric: 'demographic_parity_difference',
        before: { status: 'fail', comparator: '<=', threshold: 0.15 },
        after: { status: 'pass', comparator: '<=', threshold: 0.15 },
      },
    ]);
    expect(groups).to.deep.equal([{ attribute: 'sex', new: ['unknown'], gone: ['other'] }]);
  });

  it('says that a gap of the same size has the opposite direction', () => {
    const turned = changesOf({ a: [100, 60], b: [100, 45] }, { a: [100, 45], b: [100, 60] });
    expect(turned.metrics[0]).to.include({ change: 0, reversed: true });
    expect(JSON.stringify(changeBlocks(turned))).to.include('The direction of these gaps is reversed').and.match(/Demographic parity difference of .?sex/); // prettier-ignore
    expect(changesOf(MAY, JUNE).metrics[0]?.reversed).to.equal(false);
  });

  it('says which groups have another share of the rows', () => {
    const warningsOf = (now: Groups): readonly string[] =>
      changesOf({ female: [500, 150], male: [500, 250] }, now).warnings;
    expect(warningsOf({ female: [30, 9], male: [970, 485] })).to.deep.equal([
      "By sex, groups have another share of the rows: 'female' had 50.0%, and has 3.0%; 'male' had 50.0%, and has 97.0%. A metric can change because other people were measured.",
    ]);
    // A group that is too small to be compared has a share too.
    expect(warningsOf({ female: [20, 6], male: [980, 490] })[0]).to.include(
      "'male' had 50.0%, and has 98.0%; 'female' had 50.0%, and has 2.0%.",
    );
    // A chance, and a share that is nearly the same.
    expect(warningsOf({ female: [40, 12], male: [80, 40] })).to.deep.equal([]);
    expect(warningsOf({ female: [45_000, 13_500], male: [55_000, 27_500] })).to.deep.equal([]);
  });

  it('names the three groups whose shares changed most, and the number of the others', () => {
    const groups = (sizes: readonly number[]): Groups =>
      Object.fromEntries(sizes.map((n, index) => [`g${String(index)}`, [n, n / 2] as const]));
    const { warnings } = changesOf(groups([400, 400, 400, 400, 400]), groups([100, 200, 1000, 800, 1600]));
    expect(warnings).to.deep.equal([
      "By sex, groups have another share of the rows: 'g4' had 20.0%, and has 43.2%; 'g0' had 20.0%, and has 2.7%; 'g1' had 20.0%, and has 5.4%; and 1 more group. A metric can change because other people were measured.",
    ]);
  });

  it('counts people instead of their rows', () => {
    const people = (women: number) => {
      const rows = Array.from({ length: 2000 }, (_, row) => ({ person: Math.floor(row / 100), decided: row % 2 }));
      return validateRowsNow({
        yPred: rows.map(({ decided }) => decided),
        sensitive: { sex: rows.map(({ person }) => (person < women ? 'f' : 'm')) },
        cluster: rows.map(({ person }) => String(person)),
        withCi: false,
      });
    };
    const text = JSON.stringify(validationToJson(people(14), { manifest }));
    // 14 of 20 women, then 7 of 20: p = 0.06.
    expect(validationChanges(people(7), parseValidationJson(text, 'may.json'), manifest).warnings).to.deep.equal([]);
  });

  it('says whether intervals overlap', () => {
    // 0.2 of 300 rows against 0.9: no interval of this size reaches from one to the other.
    const far = changesOf({ a: [3000, 300], b: [3000, 900] }, { a: [3000, 30], b: [3000, 2730] }, { withCi: true });
    expect(far.metrics[0]?.intervalsOverlap).to.equal(false);
    expect(changesOf(MAY, MAY, { withCi: true }).metrics[0]?.intervalsOverlap).to.equal(true);
  });

  it('finds no change in the same validation', () => {
    const { warnings, metrics, groups } = changesOf(MAY, MAY, GATE);
    expect(warnings).to.deep.equal([]);
    expect(metrics[0]?.change).to.equal(0);
    expect(groups).to.deep.equal([]);
  });

  for (const [title, after, warning] of [
    [
      'data',
      { inputs: [{ path: 'may.csv', bytes: 11, sha256: 'b'.repeat(64) }] },
      /^The data differ: .*aaaaaaaa.*bbbbbbbb/,
    ],
    [
      'an option',
      { options: { y_pred: 'decision', sensitive: [['sex']] } },
      /^--y-pred was approved, and is decision\.$/,
    ],
    [
      'an option that is new',
      { options: { ...manifest.options, compat: 'fairlearn' } },
      /^--compat was not given, and is fairlearn\.$/,
    ],
    ['an option that is gone', { options: { sensitive: [['sex']] } }, /^--y-pred was approved, and is not given\.$/],
    ['the version', { evenhand: '2.0.0' }, /^The version of evenhand was 1\.0\.0, and is 2\.0\.0\.$/],
  ] as const) {
    it(`names ${title} that differs, first`, () => {
      const changes = changesOf(MAY, JUNE, {}, [manifest, { ...manifest, ...after }]);
      expect(changes.warnings).to.have.length(1);
      expect(changes.warnings[0]).to.match(warning);
      const [first] = changeBlocks(changes);
      expect(first).to.deep.include({ kind: 'note', items: changes.warnings });
    });
  }

  it('does not treat another path of the same bytes as other data', () => {
    const moved = { ...manifest, inputs: [{ path: 'copy.csv', bytes: 10, sha256: 'a'.repeat(64) }] };
    expect(changesOf(MAY, MAY, {}, [manifest, moved]).warnings).to.deep.equal([]);
  });

  it('says if the earlier file does not name its data and options', () => {
    expect(changesOf(MAY, MAY, {}, [undefined, manifest]).warnings).to.deep.equal([
      'The earlier file does not name its data and options, so they may differ.',
    ]);
  });

  it('lists metrics and attributes that are only in one of the two', () => {
    const earlier = validationToJson(validationOf(MAY, { metric: 'demographic_parity_ratio' }), { manifest });
    const now = validationOf(MAY, { sensitive: { gender: validationLabels(MAY) } });
    const changes = validationChanges(now, parseValidationJson(JSON.stringify(earlier), 'x.json'), manifest);
    expect(changes.metrics).to.deep.equal([]);
    expect(changes.warnings).to.deep.equal([
      'demographic_parity_difference by gender was not measured then.',
      'demographic_parity_difference by sex is not measured now.',
      'demographic_parity_ratio by sex is not measured now.',
    ]);
  });

  it('reads the format of earlier versions, without attributes', () => {
    const { attributes: _, ...old } = validationToJson(validationOf(MAY, GATE));
    const changes = validationChanges(
      validationOf(JUNE, GATE),
      parseValidationJson(JSON.stringify(old), 'x.json'),
      manifest,
    );
    expect(changes.metrics[0]?.before).to.equal(0.25);
  });

  it('shows an undefined value in words', () => {
    const changes = changesOf({ a: [100, 10], b: [5, 1] }, { a: [100, 10], b: [100, 20] }, GATE);
    expect(JSON.stringify(changeBlocks(changes)))
      .to.include('"undefined"')
      .and.not.include('NaN');
  });

  for (const [title, text] of Object.entries({
    'an empty file': '',
    'a text': 'sex,approved\nf,1\n',
    'a JSON array': '[]',
    'another JSON object': '{"name":"evenhand"}',
    'attributes without metrics': '{"passed":null,"attributes":{"sex":{}}}',
    'a manifest without options': '{"passed":null,"attributes":{},"metrics":{},"manifest":{}}',
    'gates that are no list': '{"passed":null,"metrics":{},"gates":3}',
    'a metric without a value': '{"passed":null,"attributes":{"sex":{"metrics":{"m":{}}}}}',
  })) {
    it(`rejects ${title} with one error that names the file`, () => {
      expect(() => parseValidationJson(text, 'x.json')).to.throw(
        DataValidationError,
        /^'x\.json' is not a result of validate/,
      );
    });
  }
});

function validationLabels(groups: Groups): string[] {
  return Object.entries(groups).flatMap(([label, [n]]) => Array.from({ length: n }, () => label));
}
