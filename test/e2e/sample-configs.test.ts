import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { parse } from 'yaml';

import { loadData, SAMPLE_DATA_NAMES, sampleData } from '../../src/io/index.ts';
import { loadConfig, parsePipelineConfig, pipelineConfigToJson } from '../../src/pipeline/config/index.ts';
import type { PipelineConfig } from '../../src/schemas/pipeline/pipeline-document.ts';
import type { Table } from '../../src/table/index.ts';
import { filesIn, projectRoot } from '../helpers/project-files.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { fits, type JsonSchema } from '../schemas/pipeline/check-json-schema.ts';

// The tests of language-model evaluations check their own samples.
const files = filesIn('config', '.yml').filter((file) => !path.basename(file).startsWith('llm-'));
const schema = JSON.parse(readFileSync(path.join(projectRoot, 'config/pipeline.schema.json'), 'utf8')) as JsonSchema;
const load = (name: string): Promise<PipelineConfig> => loadConfig(path.join(projectRoot, 'config', `${name}.yml`));

/** Checks that the data contain every column and label that a configuration names. */
function expectToFit(config: PipelineConfig, table: Table): void {
  const { sensitive, features = [], training } = config;
  expect(table.columnNames).to.include.members([...sensitive, ...features, training?.targetColumn ?? '']);
  const labelsOf = (name: string): readonly string[] => {
    const column = table.column(name);
    return column.kind === 'categorical' ? column.labels : [...new Set(column.values)].map(String);
  };
  for (const [attribute, proportions] of Object.entries(config.benchmarks)) {
    expect(Object.keys(proportions)).to.have.members([...labelsOf(attribute)]);
  }
  expect(labelsOf(training?.targetColumn ?? '')).to.include(training?.positiveLabel ?? '1');
}

describe('sample configurations', () => {
  it('exist for the data sets of the docs and for every built-in sample', () => {
    const names = files.map((file) => path.basename(file, '.yml'));
    expect(names).to.have.members(['adult', 'compas', 'german', ...SAMPLE_DATA_NAMES]);
  });

  for (const file of files) {
    const text = readFileSync(path.join(projectRoot, file), 'utf8');

    it(`${file} conforms to its schema, and is read without errors`, async () => {
      expect(text).to.match(/^# yaml-language-server: \$schema=\.\/pipeline\.schema\.json\n/);
      expect(fits(parse(text), schema)).to.equal(true);
      const config = await loadConfig(path.join(projectRoot, file));
      expect(parsePipelineConfig(pipelineConfigToJson(config))).to.deep.equal(config);
    });

    it(`${file} says in its first lines how to run it, and has a gate`, async () => {
      expect(text.split('\n').slice(0, 12).join('\n')).to.include(`npx evenhand run-pipeline --config ${file} --csv `);
      const { fairnessMetric, validationThreshold, training, features } = await loadConfig(
        path.join(projectRoot, file),
      );
      expect(fairnessMetric).to.equal('demographic_parity_difference');
      expect(validationThreshold).to.be.within(0.01, 0.25);
      expect(training?.method).to.be.a('string');
      expect(features).to.not.equal(undefined);
    });
  }

  for (const name of SAMPLE_DATA_NAMES) {
    it(`${name}.yml names existing columns and labels of its sample`, async () => {
      expectToFit(await load(name), sampleData(name));
    });
  }
});

describeWithReference('sample configurations of public data', () => {
  for (const [name, file] of [
    ['adult', 'adult.train.csv'],
    ['compas', 'compas.csv'],
    ['german', 'german.csv'],
  ] as const) {
    it(`${name}.yml names existing columns and labels of its data`, async () => {
      expectToFit(await load(name), await loadData(referencePath('data', file)));
    });
  }
});
