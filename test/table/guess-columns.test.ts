import { expect } from 'chai';

import { guessColumns, guessFeatures, guessPositiveLabel } from '../../src/table/guess-columns.ts';
import { Table, type TableSource } from '../../src/table/index.ts';
import { repeatedIdentifier } from '../../src/table/repeated-identifier.ts';

const ROWS = 40;

/** Returns a column of 40 values made of the given ones, repeated. */
const cycle = <Value>(...values: Value[]): Value[] =>
  Array.from({ length: ROWS }, (_, row) => values[row % values.length] as Value);

/** Returns the guessed column of each role, as `name` or a list of names. */
function rolesIn(columns: Extract<TableSource, Record<string, unknown>>): Record<string, unknown> {
  const { decision, truth, score, weight, cluster, sensitive } = guessColumns(Table.from(columns));
  const name = (guess: { readonly column: string } | undefined): string | undefined => guess?.column;
  return Object.fromEntries(
    Object.entries({
      decision: name(decision),
      truth: name(truth),
      score: name(score),
      weight: name(weight),
      cluster: name(cluster),
      sensitive: sensitive.length === 0 ? undefined : sensitive.map(({ column }) => column),
    }).filter(([, value]) => value !== undefined),
  );
}

const X = cycle(5, 2, 9, 4, 7, 1);

describe('guessColumns', () => {
  it('finds the roles by their usual names', () => {
    expect(
      rolesIn({
        applicant_id: Array.from({ length: ROWS }, (_, row) => row),
        sex: cycle('f', 'm'),
        race: cycle('a', 'b', 'c'),
        income: X,
        risk_score: cycle(0.1, 0.5, 0.9, 0.4),
        approved: cycle(1, 0, 0),
        repaid: cycle('yes', 'no', 'yes', 'yes'),
        sample_weight: cycle(1, 2.5),
      }),
    ).to.deep.equal({
      decision: 'approved',
      truth: 'repaid',
      score: 'risk_score',
      weight: 'sample_weight',
      sensitive: ['sex', 'race'],
    });
  });

  const one = (name: string, values: readonly (string | number)[]) => rolesIn({ x: X, [name]: values, y2: X });

  for (const name of [
    'sex',
    'SEX',
    'Gender',
    'applicantGender',
    'race',
    'RAC1P',
    'ethnicity',
    'ethnic_group',
    'age_group',
    'religion',
    'disability',
    'Geschlecht',
    'altersgruppe',
    'Staatsangehörigkeit',
    'sexe',
    'tranche_âge',
    'género',
    'nacionalidad',
  ]) {
    // prettier-ignore
    it(`takes ${name} for a sensitive column`, () => {
      expect(one(name, cycle('a', 'b'))).to.deep.equal({ sensitive: [name] });
    });
  }

  for (const name of [
    'Essex',
    'embrace',
    'sexton',
    'average',
    'message',
    'package',
    'trace',
    'group',
    'region',
    'language',
    'zip',
  ]) {
    // prettier-ignore
    it(`does not take ${name} for a sensitive column`, () => {
      expect(one(name, cycle('a', 'b'))).to.deep.equal({});
    });
  }

  for (const name of [
    'approved',
    'hired',
    'Admitted',
    'loan_granted',
    'decision',
    'y_pred',
    'yPred',
    'prediction',
    'model_output',
    'selected',
  ]) {
    // prettier-ignore
    it(`takes ${name} for decisions if it has two values`, () => {
      expect(one(name, cycle(0, 1))).to.deep.equal({ decision: name });
      expect(one(name, cycle('no', 'yes'))).to.deep.equal({ decision: name });
      expect(one(name, X)).to.deep.equal({});
    });
  }

  for (const name of ['label', 'y_true', 'target', 'Outcome', 'ground_truth', 'class', 'defaulted', 'repaid']) {
    it(`takes ${name} for true labels if it has two values`, () => {
      expect(one(name, cycle(0, 1))).to.deep.equal({ truth: name });
      expect(one(name, cycle('a', 'b', 'c'))).to.deep.equal({});
    });
  }

  for (const name of ['score', 'prob', 'y_proba', 'probability', 'riskScore']) {
    it(`takes ${name} for scores if its values lie between 0 and 1`, () => {
      expect(one(name, cycle(0, 0.3, 1))).to.deep.equal({ score: name });
      expect(one(name, cycle(1, 5, 10))).to.deep.equal({});
      expect(one(name, cycle('low', 'mid', 'high'))).to.deep.equal({});
    });
  }

  for (const name of ['sample_weight', 'sampleWeight', 'survey_weight', 'weights', 'fnlwgt', 'PWGTP']) {
    it(`takes ${name} for weights if it has no negative number`, () => {
      expect(one(name, cycle(0.5, 2, 3))).to.deep.equal({ weight: name });
      expect(one(name, cycle(-0.5, 2, 3))).to.deep.equal({});
    });
  }

  it('does not take the weight of a body for a weight of rows', () => {
    expect(one('weight', cycle(61, 80, 75))).to.deep.equal({});
  });

  it('reports a sensitive column that has too many values, or only one, with a reason', () => {
    const { sensitive, passedOver } = guessColumns(
      Table.from({ age: Array.from({ length: ROWS }, (_, row) => row), sex: cycle('f'), score: cycle(1, 5, 10) }),
    );
    expect(sensitive).to.deep.equal([]);
    expect(passedOver).to.deep.equal([
      { column: 'age', reason: 'has 40 values, which is too many groups; a column of age groups can be compared' },
      { column: 'sex', reason: 'has only one value' },
      { column: 'score', reason: 'may hold scores, but from 1 to 10; name it with its threshold' },
    ]);
    const german = guessColumns(Table.from({ Alter: Array.from({ length: ROWS }, (_, row) => row) }));
    expect(german.passedOver[0]?.reason).to.match(/; a column of age groups can be compared$/);
  });

  it('reports a column of decisions that has more than two values, with what to name', () => {
    const { decision, passedOver } = guessColumns(
      Table.from({ x: X, decision: cycle('approve', 'deny', 'refer', 'withdrawn'), y: X }),
    );
    expect(decision).to.equal(undefined);
    expect(passedOver).to.deep.equal([
      { column: 'decision', reason: 'may hold decisions, but has 4 values; name it with its positive label' },
    ]);
  });

  it('takes the last column for true labels if no name says more and it has two values', () => {
    expect(rolesIn({ sex: cycle('f', 'm'), x: X, income: cycle('<=50K', '>50K', '<=50K') })).to.deep.equal({
      truth: 'income',
      sensitive: ['sex'],
    });
    expect(rolesIn({ approved: cycle(0, 1), x: X, income: cycle('a', 'b') })).to.deep.equal({ decision: 'approved' });
    expect(rolesIn({ x: X, sex: cycle('f', 'm') })).to.deep.equal({ sensitive: ['sex'] });
  });

  it('takes people with several rows each for clusters, and of several such columns the one with the most values', () => {
    const person = Array.from({ length: ROWS }, (_, row) => row % 20);
    const school = Array.from({ length: ROWS }, (_, row) => `s${String(row % 10)}`);
    expect(rolesIn({ school, person, x: X })).to.deep.equal({ cluster: 'person' });
    expect(rolesIn({ school, x: X })).to.deep.equal({ cluster: 'school' });
    expect(rolesIn({ school_city: school, repaid: person, x: X })).to.deep.equal({});
    expect(rolesIn({ person: Array.from({ length: ROWS }, (_, row) => row), x: X })).to.deep.equal({});
  });

  it('ignores missing values when it counts values', () => {
    expect(one('approved', cycle('yes', 'no', 'NA', ''))).to.deep.equal({ decision: 'approved' });
  });

  it('finds the roles by their names in German, French and Spanish', () => {
    const score = cycle(0.1, 0.5, 0.9, 0.4);
    const group = cycle('a', 'b', 'c');
    expect(
      rolesIn({ Bewilligt: cycle('ja', 'nein'), zurückgezahlt: cycle('ja', 'nein'), Wahrscheinlichkeit: score, x: X }),
    ).to.deep.equal({ decision: 'Bewilligt', truth: 'zurückgezahlt', score: 'Wahrscheinlichkeit' });
    expect(
      rolesIn({ accordé: cycle('oui', 'non'), défaut: cycle('oui', 'non'), probabilité: score, nationalité: group }),
    ).to.deep.equal({ decision: 'accordé', truth: 'défaut', score: 'probabilité', sensitive: ['nationalité'] });
    expect(
      rolesIn({ aprobado: cycle('sí', 'no'), impago: cycle('sí', 'no'), puntuación: score, etnia: group }),
    ).to.deep.equal({ decision: 'aprobado', truth: 'impago', score: 'puntuación', sensitive: ['etnia'] });
  });

  it('gives each guess a reason', () => {
    const { decision, truth, sensitive } = guessColumns(
      Table.from({ Sex: cycle('f', 'm'), approved: cycle(0, 1), y_true: cycle(0, 1) }),
    );
    expect(sensitive).to.deep.equal([{ column: 'Sex', reason: 'its name, 2 groups' }]);
    expect(decision?.reason).to.equal('its name, two values');
    expect(truth?.reason).to.equal('its name, two values');
  });

  it('guesses nothing from an empty table, and is quick for many columns', () => {
    expect(rolesIn({})).to.deep.equal({});
    expect(rolesIn(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`c${String(at)}`, X])))).to.deep.equal(
      {},
    );
  });
});

describe('guessPositiveLabel', () => {
  const guess = (...values: (string | number)[]) => guessPositiveLabel(Table.from({ y: values }).column('y'));

  it('needs none for 0 and 1, true and false', () => {
    expect(guess(0, 1, 1).isNeeded).to.equal(false);
    expect(guess('True', 'False', 'NA').isNeeded).to.equal(false);
  });

  const cases: readonly (readonly [readonly (string | number)[], string])[] = [
    [['no', 'yes', 'no'], 'yes'],
    [['N', 'Y'], 'Y'],
    [['denied', 'Approved'], 'Approved'],
    [['not hired', 'hired'], 'hired'],
    [['<=50K', '>50K'], '>50K'],
    [['bad', 'good'], 'good'],
    [['ja', 'nein'], 'ja'],
    [['refusé', 'Accepté'], 'Accepté'],
    [['Sí', 'No'], 'Sí'],
  ];
  for (const [values, label] of cases) {
    it(`takes '${label}' of ${values.join(', ')}`, () => {
      expect(guess(...values).label).to.equal(label);
    });
  }

  it('has no guess for labels that say nothing, and lists them with their counts, the most frequent first', () => {
    const { label, isNeeded, counts } = guess(1, 2, 1);
    expect([label, isNeeded]).to.deep.equal([undefined, true]);
    expect(counts).to.deep.equal([
      { label: '1', count: 2 },
      { label: '2', count: 1 },
    ]);
    expect(guess('yes', 'good').label).to.equal(undefined);
  });
});

describe('guessFeatures', () => {
  const y = cycle(0, 0, 1, 1);
  const table = Table.from({
    id: Array.from({ length: ROWS }, (_, row) => row),
    name: Array.from({ length: ROWS * 2 }, (_, row) => `n${String(row)}`).slice(0, ROWS),
    sex: cycle('f', 'm'),
    education: X,
    city: cycle('a', 'b', 'c'),
    country: cycle('x'),
    amount: cycle(1, 2, 30, 40),
    grade: cycle('low', 'low', 'high', 'high'),
    y,
  });
  const { features, left } = guessFeatures(table, { target: 'y', positiveLabel: undefined, used: ['sex'] });

  it('are the columns without a role that can say something about other rows', () => {
    expect(features).to.deep.equal(['education', 'city']);
  });

  it('leave out columns that may be computed from the target, with a reason', () => {
    const reasons = Object.fromEntries(left.map(({ column, reason }) => [column, reason]));
    expect(reasons).to.deep.equal({
      id: 'has the name and the values of an identifier',
      name: 'has a different text in every row',
      country: 'has only one value',
      amount: "separates the values of 'y' completely, so it may be computed from it",
      grade: "separates the values of 'y' completely, so it may be computed from it",
    });
  });

  it('exclude a column of integers or texts that never repeat, with any name', () => {
    const reasons = (name: string, values: (string | number)[], rows = values.length) =>
      guessFeatures(Table.from({ [name]: values, y: cycle(0, 0, 1, 1).slice(0, rows) }), {
        target: 'y',
        positiveLabel: undefined,
        used: [],
      }).left.map(({ reason }) => reason);
    const numbered = Array.from({ length: ROWS }, (_, row) => 1000 + ((row * 7) % ROWS));
    expect(reasons('applicant', numbered)).to.deep.equal([
      'has a different integer in every row, as an identifier has',
    ]);
    expect(reasons('applicantId', numbered)).to.deep.equal(['has the name and the values of an identifier']);
    expect(reasons('id', [7, 9, 12, 40])).to.deep.equal(['has the name and the values of an identifier']);
    expect(reasons('person', ['p1', 'p2', 'p3', 'p4'])).to.deep.equal(['has a different text in every row']);
    // Amounts from a wide range rarely repeat, and fractions never do.
    expect(reasons('income', numbered.map((value) => 997 * value))).to.deep.equal([]); // prettier-ignore
    expect(reasons('ratio', numbered.map((value) => value / 7))).to.deep.equal([]); // prettier-ignore
  });

  const reasonOf = (name: string, values: readonly (string | number)[]): string | undefined =>
    guessFeatures(Table.from({ [name]: values, y: values.map((_, row) => Number(row % 3 === 0)) }), {
      target: 'y',
      positiveLabel: undefined,
      used: [],
    }).left[0]?.reason;
  const rows = <Value>(count: number, value: (row: number) => Value) => Array.from({ length: count }, (_, row) => value(row)); // prettier-ignore

  for (const name of ['weight', 'Weight', 'sample_weight', 'fnlwgt']) {
    it(`exclude ${name}, and name the option for weights of rows`, () => {
      const weight = Array.from({ length: 200 }, (_, row) => 1 + ((row * 7) % 50) / 10);
      const table = Table.from({ [name]: weight, y: weight.map((_, row) => Number(row % 3 === 0)) });
      expect(guessFeatures(table, { target: 'y', positiveLabel: undefined, used: [] }).left).to.deep.equal([
        {
          column: name,
          reason:
            'may hold weights of rows (--sample-weight), or, for example, the weight of a person, which --features can add',
        },
      ]);
    });
  }

  it('exclude people with one or several rows each, whether they are numbers or texts', () => {
    const several = 'looks like people or things with about 4.0 rows each';
    expect(
      reasonOf(
        'person',
        rows(80, (row) => row % 20),
      ),
    ).to.equal(several);
    expect(
      reasonOf(
        'applicantId',
        rows(80, (row) => `p${String(row % 20)}`),
      ),
    ).to.equal(several);
    // Numbers from a wide range, of which a quarter repeats.
    const few = rows(80, (row) => 977 * (row % 60));
    expect(reasonOf('Applicant', few)).to.equal('has the name and the values of an identifier');
    expect(reasonOf('Applicant', rows(80, (row) => 977 * row))).to.equal('has the name and the values of an identifier'); // prettier-ignore
  });

  it('include numbers and texts that only describe people, or whose names end like id', () => {
    expect(
      reasonOf(
        'patient_age',
        rows(80, (row) => 20 + (row % 40)),
      ),
    ).to.equal(undefined);
    expect(
      reasonOf(
        'patient_region',
        rows(80, (row) => `r${String(row % 20)}`),
      ),
    ).to.equal(undefined);
    expect(
      reasonOf(
        'paid',
        rows(80, (row) => row % 40),
      ),
    ).to.equal(undefined);
    expect(
      reasonOf(
        'customer',
        rows(80, (row) => (row % 40) / 8),
      ),
    ).to.equal(undefined);
  });

  it('exclude texts that look like numbers with a decimal comma, with the option that reads them', () => {
    const reason = "looks like numbers with a decimal comma; if it is, add '--decimal ,'";
    expect(
      reasonOf(
        'amount',
        rows(80, (row) => `${String(row)},5`),
      ),
    ).to.equal(reason);
    expect(
      reasonOf(
        'amount',
        rows(80, (row) => (row % 4 === 0 ? 'none' : `${String(row % 7)},25`)),
      ),
    ).to.equal(reason);
    expect(
      reasonOf(
        'amount',
        rows(80, (row) => (row % 5 < 2 ? '0,5' : 'none')),
      ),
    ).to.equal(undefined);
  });

  it('are not checked against a target that has one value', () => {
    const one = table.take([0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29, 32, 33, 36, 37, 38]);
    const all = Table.from({ ...one.toColumns(), y: Array.from({ length: one.rowCount }, () => 0) });
    expect(guessFeatures(all, { target: 'y', positiveLabel: undefined, used: ['sex'] }).features).to.include('amount');
  });

  it('are not left out because of labels that have few rows each', () => {
    const rare = Table.from({ city: cycle('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), y: cycle(0, 0, 1, 1, 0, 1, 0, 1) });
    expect(guessFeatures(rare, { target: 'y', positiveLabel: undefined, used: [] }).features).to.deep.equal(['city']);
  });

  it('are not checked against the target with too few rows, where they separate by chance', () => {
    const few = table.take([0, 1, 2, 3]);
    expect(guessFeatures(few, { target: 'y', positiveLabel: undefined, used: ['sex'] }).features).to.include('amount');
  });
});

describe('columns that look like people with several rows', () => {
  const counts = (text: (index: number) => string): Map<string, number> =>
    new Map(Array.from({ length: 60 }, (_, index) => [text(index), 2]));

  it('have short texts: long digits would take minutes to search', () => {
    expect(
      repeatedIdentifier(
        'person',
        counts((index) => `p${String(index)}`),
      ),
    ).to.deep.include({ meanCount: 2 });
    expect(repeatedIdentifier('person', counts((index) => `${'1'.repeat(199)}${String.fromCodePoint(97 + index)}`))).to.deep.include({ meanCount: 2 }); // prettier-ignore
    expect(repeatedIdentifier('person', counts((index) => `${'1'.repeat(50_000)}x${String(index)}`))).to.equal(undefined); // prettier-ignore
  });

  it('have other values than dates and times, whose rows do not belong to one person', () => {
    const days = Array.from({ length: 60 }, (_, day) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString());
    const twice = (values: readonly string[]): Map<string, number> => new Map(values.map((value) => [value, 2]));
    for (const written of [
      days,
      days.map((day) => day.slice(0, 10)),
      days.map((day) => day.slice(0, 16).replace('T', ' ')),
      days.map((day) => day.slice(0, 10).split('-').reverse().join('.')),
      days.map((day) => day.slice(0, 10).replaceAll('-', '/')),
      days.map((day) => day.slice(11, 19).replace('00:00', '07:15')).map((time, day) => `${time}.${String(day + 100)}`),
    ]) {
      expect(new Set(written).size).to.equal(60);
      expect(repeatedIdentifier('datum', twice(written)), written[0]).to.equal(undefined);
    }
    expect(repeatedIdentifier('datum', twice(days.map((day) => `customer ${day}`)))).to.deep.include({ meanCount: 2 });
  });

  it('have other values than numbers beside a text that means a missing value', () => {
    const ages = new Map([...counts((index) => String(20 + index)), ['k. A.', 9]]);
    expect(repeatedIdentifier('Alter', ages)).to.equal(undefined);
    expect(repeatedIdentifier('person_id', ages)).to.deep.include({ name: 'person_id', isNamed: true });
  });

  for (const name of ['kunde', 'Kundennummer', 'Patient', 'Schüler', 'élève', 'cliente', 'empleado']) {
    it(`may be numbers if the column is called ${name}`, () => {
      const counts = new Map(Array.from({ length: 60 }, (_, index) => [String(1000 + index), 2]));
      expect(repeatedIdentifier(name, counts)).to.deep.equal({ name, meanCount: 2, isNamed: true });
    });
  }
});
