import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { FairnessPipeline, loadPipeline, ProxyDropper, savePipeline } from '../../src/pipeline/index.ts';
import { Table } from '../../src/table/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();
const SUGGESTION = 'Pass a file that savePipeline wrote.';

function write(name: string, content: string | Buffer): string {
  const file = path.join(folder(), name);
  writeFileSync(file, content);
  return file;
}

async function errorOf(file: string): Promise<DataValidationError> {
  const error: unknown = await loadPipeline(file).catch((cause: unknown) => cause);
  expect(error).to.be.instanceOf(DataValidationError);
  return error as DataValidationError;
}

describe('savePipeline and loadPipeline', () => {
  it('restore the saved pipeline', async () => {
    const table = Table.from({ s: ['a', 'b', 'a', 'b'], x: [0, 1, 0, 1], y: [1, 2, 2, 1] });
    const pipeline = new FairnessPipeline([{ name: 'drop', transformer: new ProxyDropper({ sensitive: 's' }) }]);
    await pipeline.fit(table);
    const file = path.join(folder(), 'saved.json');
    await savePipeline(pipeline, file);
    const { sha256: _, ...saved } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    expect(JSON.stringify(await loadPipeline(file))).to.equal(JSON.stringify(saved));
    expect(saved).to.deep.equal(JSON.parse(JSON.stringify(pipeline)));
  });
});

describe('loadPipeline rejects, in one sentence and with a suggestion', () => {
  const pipeline = (change: object): string =>
    JSON.stringify({ kind: 'fairness_pipeline', steps: [], weight_scale: null, ...change });
  const step = (transformer: unknown): string => pipeline({ steps: [{ name: 'drop', transformer }] });
  const cases: readonly (readonly [title: string, make: () => string, reason: string])[] = [
    ['a missing file', () => path.join(folder(), 'none.json'), 'there is no such file'],
    ['a path through a file', () => path.join(write('f.json', '{}'), 'x.json'), 'there is no such file'],
    ['a folder', () => folder(), 'it is a folder'],
    [
      'a name that is too long for a file',
      () => path.join(folder(), 'n'.repeat(300)),
      'it cannot be read: the system says ENAMETOOLONG',
    ],
    [
      'bytes that are not text',
      () => write('bytes.json', Buffer.from([0xff, 0xe9])),
      'it is not UTF-8: byte 0xff at offset 0',
    ],
    ['an empty file', () => write('empty.json', ''), 'it is not complete, valid JSON'],
    ['a cut file', () => write('cut.json', '{"kind": "fairness_pip'), 'it is not complete, valid JSON'],
    ['a list', () => write('list.json', '[1]'), 'it must be a mapping; got a list of 1'],
    ['a number', () => write('number.json', '7'), 'it must be a mapping; got 7'],
    ['null', () => write('null.json', 'null'), 'it must be a mapping; got nothing'],
    ['something else', () => write('else.json', '{}'), "kind must be 'fairness_pipeline'; got nothing"],
    [
      'another kind',
      () => write('kind.json', pipeline({ kind: 'model' })),
      "kind must be 'fairness_pipeline'; got 'model'",
    ],
    [
      'steps that are not a list',
      () => write('steps.json', pipeline({ steps: {} })),
      'steps must be a list; got a mapping',
    ],
    [
      'a step without a name',
      () => write('name.json', pipeline({ steps: [{ name: '' }] })),
      "steps.0.name must be a text that is not empty; got ''",
    ],
    [
      'an unknown transformer',
      () => write('unknown.json', step({ kind: 'Magic', params: {}, state: null })),
      "steps.0.transformer.kind must be one of InstanceReweighting, ReweighingTransformer, DisparateImpactRemover, ProxyDropper, CorrelationRemover, LearnedFairRepresentations; got 'Magic'",
    ],
    [
      'parameters that are a list',
      () => write('params.json', step({ kind: 'ProxyDropper', params: [], state: null })),
      'steps.0.transformer.params must be a mapping; got an empty list',
    ],
    [
      'a scale that is not a weight',
      () => write('scale.json', pipeline({ weight_scale: 0 })),
      'weight_scale must be above 0; got 0',
    ],
    [
      'a scale that is a text',
      () => write('text.json', pipeline({ weight_scale: 'x' })),
      "weight_scale must be a number; got 'x'",
    ],
  ];
  for (const [title, make, reason] of cases) {
    it(title, async () => {
      const file = make();
      const { message, suggestion } = await errorOf(file);
      expect(message).to.equal(`'${file}' is not a saved pipeline: ${reason}.`);
      expect(suggestion).to.equal(SUGGESTION);
    });
  }

  it('a transformer with invalid options, naming it', async () => {
    const file = write('bad.json', step({ kind: 'ProxyDropper', params: { threshold: 7 }, state: null }));
    const { message, suggestion } = await errorOf(file);
    expect(message)
      .to.match(/ is not a saved pipeline: .*ProxyDropper.*params.*[^.\s]\.$/)
      .and.not.match(/ {2}|\n/);
    expect(suggestion).to.equal(SUGGESTION);
  });
});
