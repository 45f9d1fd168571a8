import { readFileSync } from 'node:fs';

import { expect } from 'chai';
import { parse } from 'yaml';

import { configSchemaText, SCHEMA_FILE } from '../../../scripts/config-schema.ts';
import { parseConfigText } from '../../../src/pipeline/config/index.ts';
import { fits, type JsonSchema } from './check-json-schema.ts';

const schema = JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as JsonSchema;

describe('config/pipeline.schema.json', () => {
  it('equals the output of its script, byte for byte', async () => {
    expect(readFileSync(SCHEMA_FILE, 'utf8')).to.equal(await configSchemaText());
  });

  it('names its draft, and describes every key of the top level', () => {
    expect(schema['$schema']).to.equal('https://json-schema.org/draft/2020-12/schema');
    for (const [key, { description }] of Object.entries(schema['properties'] as Record<string, JsonSchema>)) {
      expect(description, key).to.be.a('string').that.matches(/\.$/);
    }
  });

  it('describes every parameter of steps and methods', () => {
    const { steps, training } = schema['$defs'] as Record<'steps' | 'training', JsonSchema>;
    const branches = [(steps['items'] as { anyOf: JsonSchema[] }).anyOf, (training['oneOf'] ?? training['anyOf']) as JsonSchema[]].flat(); // prettier-ignore
    expect(branches).to.have.lengthOf(9);
    for (const { properties } of branches) {
      const { params } = properties as { params: { properties: Record<string, JsonSchema> } };
      for (const [name, { description }] of Object.entries(params.properties)) {
        expect(description, name).to.be.a('string');
      }
    }
  });

  // What a schema can express; problems between keys are found when a file is read.
  const texts: readonly { readonly text: string; readonly isValid: boolean }[] = [
    { text: 'sensitive: sex', isValid: true },
    { text: 'sensitive: [sex]', isValid: true },
    { text: 'sensitive: []', isValid: false },
    { text: 'alpha: 0.1', isValid: false },
    { text: 'sensitve: [sex]', isValid: false },
    { text: 'sensitive: [sex]\nalpha: 1', isValid: false },
    { text: 'sensitive: [sex]\nalpha: high', isValid: false },
    { text: 'sensitive: [sex]\nsteps: [{ kind: ProxyDropper }]', isValid: true },
    { text: 'sensitive: [sex]\npipeline: [{ transformer: ProxyDropper }]', isValid: true },
    { text: 'sensitive: [sex]\npipeline: []\nsteps: []', isValid: false },
    { text: 'sensitive: [sex]\nsteps: [{ name: a }]', isValid: false },
    { text: 'sensitive: [sex]\nsteps: [{ kind: ProxyDropper, transformer: ProxyDropper }]', isValid: false },
    { text: 'sensitive: [sex]\nsteps: [{ kind: ProxyDropper, params: { repair_level: 1 } }]', isValid: false },
    {
      text: 'sensitive: [sex]\nsteps: [{ kind: InstanceReweighting, params: { benchmarks: { sex: { f: 1 } } } }]',
      isValid: true,
    },
    {
      text: 'sensitive: [sex]\nsteps: [{ kind: InstanceReweighting, params: { benchmarks: { sex: { f: 2 } } } }]',
      isValid: false,
    },
    { text: 'sensitive: [sex]\nbenchmarks: { sex: { f: 0.5, m: 0.5 } }', isValid: true },
    { text: 'sensitive: [sex]\nbenchmarks: { sex: { f: half, m: 0.5 } }', isValid: false },
    { text: 'sensitive: [sex]\nbenchmarks: { sex: 0.5 }', isValid: false },
    { text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, positive_label: 1 }', isValid: true },
    { text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { T: 3 } }', isValid: true },
    {
      text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { eta: 3 } }',
      isValid: false,
    },
    {
      text: 'sensitive: [sex]\ntraining: { method: regularized, target_column: y, params: { eta: 3 } }',
      isValid: true,
    },
    { text: 'sensitive: [sex]\ntraining: { method: regularized }', isValid: false },
    {
      text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { constraint: bounded_group_loss, range: [0, 2] } }',
      isValid: true,
    },
    {
      text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { range: [0, 1, 2] } }',
      isValid: false,
    },
    {
      text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, params: { class_weight: { 0: 1 } } }',
      isValid: true,
    },
    { text: 'sensitive: [sex]\nfairness_metric: accuracy', isValid: false },
    { text: 'sensitive: ["s\\0x"]', isValid: false },
    { text: 'sensitive: [Größe in m²]', isValid: true },
    { text: `sensitive: [sex]\nsteps: [{ kind: ProxyDropper, name: ${'n'.repeat(200)} }]`, isValid: true },
    { text: `sensitive: [sex]\nsteps: [{ kind: ProxyDropper, name: ${'n'.repeat(201)} }]`, isValid: false },
    {
      text: 'sensitive: [sex]\ntraining: { method: regularized, target_column: y, params: { hidden: [20000000] } }',
      isValid: false,
    },
    { text: 'sensitive: [sex]\nreport_out: report.pdf', isValid: false },
    { text: 'profiles: { a: { sensitive: [sex] } }', isValid: true },
    { text: 'sensitive: [sex]\nprofiles: { a: { alhpa: 0.1 }, b: {} }', isValid: false },
    { text: 'sensitive: [sex]\nprofiles: { a: { alpha: 0.1, steps: [] }, b: {} }', isValid: true },
  ];
  for (const { text, isValid } of texts) {
    it(`${isValid ? 'accepts' : 'rejects'} what the reader ${isValid ? 'accepts' : 'rejects'}: ${text.replaceAll('\n', '; ')}`, async () => {
      const isRead = await parseConfigText(text).then(
        () => true,
        () => false,
      );
      expect({ isRead, fits: fits(parse(text), schema) }).to.deep.equal({ isRead: isValid, fits: isValid });
    });
  }
});
