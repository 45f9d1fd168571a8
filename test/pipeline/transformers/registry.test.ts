import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createTransformer, transformerFromJson } from '../../../src/pipeline/transformers/registry.ts';
import type { StepDefaults } from '../../../src/pipeline/transformers/transformer.ts';
import { TRANSFORMER_KINDS } from '../../../src/schemas/pipeline/transformer-params.ts';

const DEFAULTS: StepDefaults = {
  sensitive: ['sex', 'race'],
  benchmarks: { sex: { f: 0.5, m: 0.5 }, age: { old: 1 } },
  label: 'hired',
  positiveLabel: 'yes',
  features: ['score', 'city', 'gone'],
};

const NONE: StepDefaults = { sensitive: ['sex'], benchmarks: {} };

describe('createTransformer', () => {
  for (const kind of TRANSFORMER_KINDS) {
    it(`creates a ${kind} that survives JSON`, () => {
      const made = createTransformer(kind, {}, DEFAULTS);
      expect(made.kind).to.equal(kind);
      const written: unknown = JSON.parse(JSON.stringify(made));
      expect(transformerFromJson(written).toJSON()).to.deep.equal(made.toJSON());
      expect(made.toJSON().params).to.deep.include({ sensitive: ['sex', 'race'] });
    });
  }

  it('fills in benchmarks of the sensitive columns only', () => {
    expect(createTransformer('InstanceReweighting', {}, DEFAULTS).toJSON().params['benchmarks']).to.deep.equal({
      sex: { f: 0.5, m: 0.5 },
    });
    const other = createTransformer('InstanceReweighting', { sensitive: 'race' }, DEFAULTS);
    expect(other.toJSON().params).to.not.have.property('benchmarks');
  });

  it('lets a step override them', () => {
    const { params } = createTransformer(
      'ReweighingTransformer',
      { sensitive: 'race', label: 'paid' },
      DEFAULTS,
    ).toJSON();
    expect(params).to.deep.equal({ sensitive: 'race', label: 'paid', max_weight: 10 });
  });

  it("uses the configuration's features as candidates, and skips those that are text or missing", async () => {
    const rows = {
      sex: ['f', 'm'],
      race: ['x', 'x'],
      score: [1, 3],
      city: ['u', 'v'],
      hired: ['yes', 'no'],
      other: [1, 3],
    };
    const remover = createTransformer('DisparateImpactRemover', { minGroupSize: 1 }, DEFAULTS);
    const { table } = await (await remover.fit(rows)).transform(rows);
    expect(table.toColumns()).to.deep.equal({ ...rows, score: [2, 2] });
  });

  it('rejects features of a step that do not exist', async () => {
    const remover = createTransformer('CorrelationRemover', { features: ['scor'] }, NONE);
    const failure = await remover.fit({ sex: ['f', 'm'], score: [1, 2] }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
    expect((failure as DataValidationError).suggestion).to.match(/'score'/);
  });

  for (const { title, kind, params, match } of [
    { title: 'an unknown transformer', kind: 'ProxyDroper', params: {}, match: /'ProxyDropper'/ },
    { title: 'an unknown option', kind: 'ProxyDropper', params: { treshold: 0.2 }, match: /'threshold'/ },
  ]) {
    it(`rejects ${title}, with the most similar name`, () => {
      expect(() => createTransformer(kind, params, NONE))
        .to.throw(ValueError)
        .with.property('suggestion')
        .that.matches(match);
    });
  }

  it('rejects an option of the wrong type, by its name', () => {
    expect(() => createTransformer('ProxyDropper', { maxDrop: 'many' }, NONE)).to.throw(ValueError, /maxDrop/);
    expect(() => createTransformer('CorrelationRemover', { alpha: 2 }, NONE)).to.throw(ValueError, /alpha/);
  });

  it('rejects learned representations without a label', () => {
    expect(() => createTransformer('LearnedFairRepresentations', {}, NONE)).to.throw(ValueError, /label/);
  });
});

describe('transformerFromJson', () => {
  it('rejects an unknown kind, with the most similar name', () => {
    expect(() => transformerFromJson({ kind: 'CorelationRemover', params: {}, state: null }))
      .to.throw(ValueError)
      .with.property('suggestion')
      .that.matches(/'CorrelationRemover'/);
  });

  for (const json of [null, 7, {}, []]) {
    it(`rejects ${JSON.stringify(json)}`, () => {
      expect(() => transformerFromJson(json)).to.throw(DataValidationError);
    });
  }

  for (const { title, change } of [
    { title: 'other options', change: { params: { sensitive: 'sex', alhpa: 1 } } },
    { title: 'options out of range', change: { params: { sensitive: [], alpha: 1 } } },
    { title: 'another state', change: { state: { features: [{ feature: 'x' }], warnings: [] } } },
    { title: 'no state at all', change: { state: undefined } },
  ]) {
    it(`rejects ${title}`, async () => {
      const remover = await createTransformer('CorrelationRemover', {}, NONE).fit({ sex: ['f', 'm'], x: [1, 2] });
      const written = { ...(JSON.parse(JSON.stringify(remover)) as object), ...change };
      expect(() => transformerFromJson(written)).to.throw(DataValidationError, /CorrelationRemover/);
    });
  }
});
