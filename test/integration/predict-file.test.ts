import path from 'node:path';

import { expect } from 'chai';

import { executeWorkflow, type WorkflowOptions } from '../../src/integration/index.ts';
import { predictWithSavedModel } from '../../src/integration/predict-file.ts';
import { sampleData, writeCsv } from '../../src/io/index.ts';
import type { PipelineConfigInput } from '../../src/pipeline/index.ts';
import { Table } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const WAGES = sampleData('cps-wages');

const REPAIRED = ['education', 'experience'];

/** Steps that change values, and one whose fit gives a warning. */
const STEPS = {
  repair: { name: 'repair', transformer: 'DisparateImpactRemover', params: { features: REPAIRED } },
  remove: { name: 'remove', transformer: 'CorrelationRemover', params: { sensitive: 'race', features: REPAIRED } },
  few: {
    name: 'few',
    transformer: 'DisparateImpactRemover',
    params: { sensitive: 'race', features: REPAIRED, min_group_size: 30 },
  },
} as const;

/** The wages, with other values of some columns in the first rows. */
function withFirst(values: Readonly<Record<string, readonly (string | null)[]>>): Table {
  const columns = WAGES.toColumns();
  return Table.from(
    Object.fromEntries(
      Object.entries(columns).map(([name, all]) => {
        const first = values[name] ?? [];
        return [name, [...first, ...Array.from(all).slice(first.length)] as (string | number | null)[]];
      }),
    ),
  );
}

describe('predictWithSavedModel', () => {
  const temporary = useTemporaryFolder();
  const at = (name: string): string => path.join(temporary(), name);

  const configOf = (steps: readonly (keyof typeof STEPS)[]): PipelineConfigInput => ({
    sensitive: ['gender'],
    features: ['education', 'experience', 'union'],
    pipeline: steps.map((step) => STEPS[step]),
    training: { method: 'reductions', targetColumn: 'wage_above_median', params: { eps: 0.02, T: 5 } },
    fairnessMetric: 'demographic_parity_difference',
  });

  /** Returns the warnings about rows from a model saved by a workflow with the given steps. */
  const warningsOf = async (saved: string, rows: Table): Promise<readonly string[]> => {
    await writeCsv(at('rows.csv'), rows);
    const { predicted } = await predictWithSavedModel(path.join(at(saved), 'model'), at('rows.csv'));
    expect(Object.isFrozen(predicted)).to.equal(true);
    expect(Object.isFrozen(predicted.warnings)).to.equal(true);
    expect(predicted.table.rowCount).to.equal(rows.rowCount);
    return predicted.warnings;
  };

  before(async () => {
    const run = (name: string, steps: readonly (keyof typeof STEPS)[], options: WorkflowOptions = {}) =>
      executeWorkflow(configOf(steps), WAGES, { backend: 'wasm', outputDir: at(name), ...options });
    await run('one', ['repair']);
    const { warnings } = await run('three', ['repair', 'few', 'remove']);
    expect(warnings.join(), 'a warning of the fit').to.match(/few: unchanged: .*with fewer than 30 values/);
  });

  it('reads group labels as they are written: relabelling groups as long numbers changes no prediction', async () => {
    const label = (one: unknown): string => (one === 'female' ? '9007199254740992' : '9007199254740993');
    const columns = WAGES.toColumns();
    const relabelled = Table.from({ ...columns, gender: Array.from(columns['gender'] as ArrayLike<unknown>, label) });
    await executeWorkflow(configOf(['repair']), relabelled, { backend: 'wasm', outputDir: at('codes') });
    expect(await warningsOf('codes', relabelled)).to.deep.equal([]);
    const scoresOf = async (saved: string, rows: Table): Promise<Float64Array> => {
      await writeCsv(at('scored.csv'), rows);
      const { predicted } = await predictWithSavedModel(path.join(at(saved), 'model'), at('scored.csv'));
      return predicted.table.numeric(predicted.scoreColumn).values;
    };
    expect(await scoresOf('codes', relabelled)).to.deep.equal(await scoresOf('one', WAGES));
  });

  it('reads missing texts as training does, and those of naValues', async () => {
    const marked = withFirst({ gender: ['?', '?'], union: ['?'] });
    await writeCsv(at('marked.csv'), marked);
    const { predicted } = await predictWithSavedModel(path.join(at('one'), 'model'), at('marked.csv'), {
      naValues: ['?'],
    });
    expect(predicted.warnings).to.include(`repair: unchanged: 2 rows without a value of 'gender'`);
    await writeCsv(at('usual.csv'), withFirst({ education: ['NA'] }));
    const usual = await predictWithSavedModel(path.join(at('one'), 'model'), at('usual.csv'));
    expect(usual.predicted.warnings.join()).to.include(
      "of 'education' are missing where they hold one of these texts: 'NA' (1 row)",
    );
  });

  const UNKNOWN = `unchanged: the group 'unseen', not seen in fit`;
  const ROWS = [
    { title: 'the training rows', saved: 'one', rows: WAGES, expected: [] },
    { title: 'the training rows, after a fit with warnings', saved: 'three', rows: WAGES, expected: [] },
    {
      title: 'an unknown group',
      saved: 'one',
      rows: withFirst({ gender: ['unseen', 'unseen'] }),
      expected: [`repair: ${UNKNOWN}`],
    },
    {
      title: 'rows without a group',
      saved: 'one',
      rows: withFirst({ gender: [null, null, null] }),
      expected: [`repair: unchanged: 3 rows without a value of 'gender'`],
    },
    {
      title: 'both, in several steps',
      saved: 'three',
      rows: withFirst({ gender: ['unseen', null], race: ['unseen', null, null] }),
      expected: [
        `repair: ${UNKNOWN}`,
        `repair: unchanged: 1 row without a value of 'gender'`,
        `few: ${UNKNOWN}`,
        `few: unchanged: 2 rows without a value of 'race'`,
        `remove: race: nothing is removed from rows of the group 'unseen' (not seen in fit)`,
        `remove: nothing is removed from 2 rows without a value of 'race'`,
      ],
    },
  ];
  for (const { title, saved, rows, expected } of ROWS) {
    it(`returns the warnings of the model's pipeline steps about these rows: ${title}`, async () => {
      expect(await warningsOf(saved, rows)).to.deep.equal(expected);
    });
  }
});
