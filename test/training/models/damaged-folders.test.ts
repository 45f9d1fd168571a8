import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { loadModel } from '../../../src/training/models/load-model.ts';
import { saveModel } from '../../../src/training/models/save-model.ts';
import { RegularizedFairnessTrainer } from '../../../src/training/networks/regularized-fairness-trainer.ts';
import { sweepPareto } from '../../../src/training/pareto/sweep-pareto.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { makeRows, matrixOf } from './made-rows.ts';

type Json = Record<string, unknown>;

const folder = useTemporaryFolder();
const rows = makeRows(200);
const matrix = matrixOf(rows);
const { sensitive } = rows;

/** Rewrites a JSON file of a folder without its checksum, so that its content is checked. */
function edit(name: string, change: (json: Json) => unknown): (location: string) => void {
  return (location) => {
    const file = path.join(location, name);
    const { sha256: _, ...json } = JSON.parse(readFileSync(file, 'utf8')) as Json;
    writeFileSync(file, JSON.stringify(change(json) ?? json));
  };
}

const set =
  (...[path, value]: [string, unknown]): ((json: Json) => void) =>
  (json) => {
    const keys = path.split('.');
    const last = keys.pop() as string;
    keys.reduce<Record<string, unknown>>((part, key) => part[key] as Record<string, unknown>, json)[last] = value;
  };

const cut = (name: string) => (location: string) => {
  const file = path.join(location, name);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.subarray(0, bytes.length - 5));
};

const stateOf = (json: Json) => json['state'] as { weights: number[]; predictors: unknown[] };

const layers = 'modelTopology.config.layers';

/** Damages to the folder of a network, a logistic regression or a reduction, and the expected errors. */
const damages: [title: string, model: 'network' | 'logistic' | 'reductions', (location: string) => void, RegExp][] = [
  ['a cut card', 'network', cut('card.json'), /card\.json: it is not complete, valid JSON/],
  ['a cut topology', 'network', cut('model.json'), /model\.json: it is not complete, valid JSON/],
  ['cut weights', 'network', cut('weights.bin'), /weights\.bin: it has \d+ bytes, but model\.json describes \d+/],
  ['cut weights of an estimator, though its JSON is whole', 'logistic', cut('weights.bin'), /weights\.bin: it has/],
  [
    'no card',
    'network',
    (location) => {
      rmSync(path.join(location, 'card.json'));
    },
    /card\.json: there is no such file/,
  ],
  [
    'no weights',
    'network',
    (location) => {
      rmSync(path.join(location, 'weights.bin'));
    },
    /weights\.bin: there is no such file/,
  ],
  [
    'no estimator',
    'logistic',
    (location) => {
      rmSync(path.join(location, 'estimator.json'));
    },
    /estimator\.json: there is no/,
  ],
  ['a card of another kind', 'network', edit('card.json', set('kind', 'something else')), /card\.json: kind: /],
  ['a card without features', 'network', edit('card.json', set('features', [])), /card\.json: features: /],
  ['an unknown method', 'network', edit('card.json', set('method', 'magic')), /card\.json: method: /],
  [
    'a card that is a list',
    'network',
    (location) => {
      writeFileSync(path.join(location, 'card.json'), '[]');
    },
    /card\.json: /,
  ],
  ['a scale of 0', 'network', edit('card.json', set('features.0.scale', 0)), /card\.json: features\.0\.scale: /],
  ['one feature less', 'network', edit('card.json', (json) => ({ ...json, features: (json['features'] as unknown[]).slice(1) })), /takes \d+ inputs, but the card describes \d+/], // prettier-ignore
  ['a layer that is not dense', 'network', edit('model.json', set(`${layers}.0.class_name`, 'Lambda')), /model\.json: modelTopology\.config\.layers\.0\.class_name/], // prettier-ignore
  ['an unknown activation', 'network', edit('model.json', set(`${layers}.0.config.activation`, '__proto__')), /this activation is unknown/], // prettier-ignore
  ['activations of another network', 'network', edit('model.json', set(`${layers}.0.config.activation`, 'sigmoid')), /activations do not match/], // prettier-ignore
  ['shapes that do not chain', 'network', edit('model.json', set('weightsManifest.0.weights.0.shape', [1, 4])), /weights of layer 1 do not match|it has \d+ bytes/], // prettier-ignore
  ['a shape too large for any memory', 'network', edit('model.json', set('weightsManifest.0.weights.0.shape', [9e15, 9e15])), /model\.json describes/], // prettier-ignore
  ['weights in another folder', 'network', edit('model.json', set('weightsManifest.0.paths', ['../../weights.bin'])), /weightsManifest\.0\.paths/], // prettier-ignore
  ['weights that are not numbers', 'network', (location) => { writeFileSync(path.join(location, 'weights.bin'), readFileSync(path.join(location, 'weights.bin')).fill(255)); }, /weight 1 is NaN/], // prettier-ignore
  ['an estimator of another kind', 'logistic', edit('estimator.json', set('kind', 'constructor')), /estimator\.json: The kind of an estimator/], // prettier-ignore
  ['an estimator of other features', 'logistic', edit('estimator.json', set('state.coefficients', [1])), /a predictor takes 1 inputs, but the card describes 2/], // prettier-ignore
  ['an estimator out of range', 'logistic', edit('estimator.json', set('params.l2', -1)), /estimator\.json: The l2 parameter/], // prettier-ignore
  [
    'an unfitted estimator',
    'logistic',
    edit('estimator.json', set('state', null)),
    /estimator\.json: .*not been fitted/,
  ],
  ['an infinite coefficient', 'logistic', (location) => { writeFileSync(path.join(location, 'estimator.json'), readFileSync(path.join(location, 'estimator.json'), 'utf8').replace(/"intercept": [^,]+/, '"intercept": 1e999')); }, /estimator\.json: /], // prettier-ignore
  ['weights that sum to 2', 'reductions', edit('reductions.json', (json) => { set('state.weights', stateOf(json).weights.map((one) => 2 * one))(json); }), /with a sum of 1, because they are probabilities|one per predictor/], // prettier-ignore
  ['a predictor less', 'reductions', edit('reductions.json', (json) => { set('state.predictors', stateOf(json).predictors.slice(1))(json); }), /with a sum of 1, because they are probabilities|one per predictor/], // prettier-ignore
  [
    'an unfitted reduction',
    'reductions',
    edit('reductions.json', set('state', null)),
    /reductions\.json: .*not been fitted/,
  ],
];

describe('folders without a complete model', () => {
  const index = (name: string): string => path.join(folder(), name);
  before(async () => {
    const options = { epochs: 2, backend: 'cpu' } as const;
    await saveModel(await new RegularizedFairnessTrainer(options).fit(rows.columns, rows.y, { sensitive }), index('network')); // prettier-ignore
    const estimator = new LogisticRegression({ precision: 'float64' });
    await saveModel(await estimator.fit(matrix, rows.y), index('logistic'));
    await saveModel(await new ReductionsWrapper({ estimator }).fit(matrix, rows.y, { sensitive }), index('reductions'));
  });

  for (const [title, model, damage, message] of damages) {
    it(`${title}: a DataValidationError with folder, file and reason`, async () => {
      const damaged = index('damaged');
      rmSync(damaged, { recursive: true, force: true });
      cpSync(index(model), damaged, { recursive: true });
      damage(damaged);
      const error = await loadModel(damaged, { backend: 'cpu' }).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).to.be.instanceOf(DataValidationError);
      const { message: reported, suggestion } = error as DataValidationError;
      expect(reported).to.include(damaged);
      expect(reported).to.match(message);
      expect(reported).to.not.include('\n');
      expect(suggestion).to.match(/save the model again/);
    });
  }

  const nowhere: [string, () => string, RegExp][] = [
    ['no folder', () => index('nowhere'), /card\.json: there is no such file/],
    ['a file', () => index('network/card.json'), /the path is a file, but a model is a folder/],
    ['an empty folder', () => (mkdirSync(index('empty')), index('empty')), /card\.json: there is no such file/],
  ];
  for (const [title, where, message] of nowhere) {
    it(`${title}: a DataValidationError`, async () => {
      const error = (await loadModel(where()).catch((cause: unknown) => cause)) as Error;
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(message);
    });
  }

  it('a card of another version loads with a warning', async () => {
    const old = index('old');
    cpSync(index('logistic'), old, { recursive: true });
    edit('card.json', set('versions.evenhand', '0.1.0'))(old);
    expect((await loadModel(old)).warnings.join()).to.match(/saved by evenhand 0\.1\.0, but this is/);
  });
});

describe('the folder of a sweep', () => {
  const sweep = (): string => path.join(folder(), 'sweep');
  before(async () => {
    const table = { ...rows.columns, y: rows.y, s: rows.sensitive };
    await sweepPareto({ table }, { etas: [0, 0.5], epochs: 2, backend: 'cpu', minGroupSize: 5, modelPath: sweep() });
  });

  it('holds models that can be loaded by their folder or by eta', async () => {
    const own = await loadModel(path.join(sweep(), 'eta-0.5'), { backend: 'cpu' });
    const byEta = await loadModel(sweep(), { eta: 0.5, backend: 'cpu' });
    expect(own.card).to.deep.include({ method: 'regularized', constraint: { penalty: 'covariance', eta: 0.5 } });
    expect(Object.keys(own.card.groups ?? {})).to.deep.equal(['few', 'many']);
    expect(own.card.metrics[0]).to.include({ rows: 'test', eta: 0.5 });
    expect(await byEta.predictProba(rows.columns)).to.deep.equal(await own.predictProba(rows.columns));
  });

  const refusals: [string, number | undefined, RegExp][] = [
    ['lists the networks if no eta is given', undefined, /holds a sweep of 2 networks: eta-0, eta-0\.5\./],
    ['lists the networks if the eta is unknown', 3, /but none for eta 3: eta-0, eta-0\.5\./],
  ];
  for (const [title, eta, message] of refusals) {
    it(title, async () => {
      const error = (await loadModel(sweep(), { eta }).catch((cause: unknown) => cause)) as DataValidationError;
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(message);
      expect(error.suggestion).to.match(/\(eta: 0\)/);
    });
  }

  it('rejects an eta for a folder with one model', async () => {
    const error = await loadModel(path.join(sweep(), 'eta-0'), { eta: 0 }).catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(ValueError);
  });
});
