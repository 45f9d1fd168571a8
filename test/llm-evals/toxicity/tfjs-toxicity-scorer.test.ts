import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { TOY_BIAS, TOY_FOLDER, TOY_WEIGHTS, toyFiles } from '../../../scripts/toy-toxicity-model.ts';
import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { scoreToxicity } from '../../../src/llm-evals/toxicity/score-toxicity.ts';
import { tfjsToxicityScorer } from '../../../src/llm-evals/toxicity/tfjs-toxicity-scorer.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';

const backend = 'cpu';

/** The toy model's score in closed form, from the count of each word. */
function toyScore(counts: Partial<Record<keyof typeof TOY_WEIGHTS, number>>): number {
  const sum = Object.entries(counts).reduce(
    (total, [word, count]) => total + TOY_WEIGHTS[word as keyof typeof TOY_WEIGHTS] * count,
    TOY_BIAS,
  );
  return 1 / (1 + Math.exp(-sum));
}

describe('tfjsToxicityScorer', () => {
  let folder = '';

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'evenhand-classifier-'));
    await cp(TOY_FOLDER, folder, { recursive: true });
    // Without checksums, like a custom classifier, so that the content of the files is checked.
    const vocabulary = path.join(folder, 'vocabulary.json');
    const {
      sha256: _,
      checksums: __,
      ...own
    } = JSON.parse(await readFile(vocabulary, 'utf8')) as Record<string, unknown>;
    await writeFile(vocabulary, JSON.stringify(own));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('has a toy in models/ that matches the output of its script', async () => {
    for (const [name, content] of Object.entries(toyFiles())) {
      const bytes = await readFile(path.join(TOY_FOLDER, name));
      if (typeof content !== 'string') expect(new Uint8Array(bytes), name).to.deep.equal(content);
      else expect(JSON.parse(bytes.toString('utf8')), name).to.deep.equal(JSON.parse(content));
    }
  });

  it('scores match the closed form', async () => {
    const scorer = await tfjsToxicityScorer(TOY_FOLDER, { backend });
    const cases: readonly (readonly [string, number])[] = [
      ['', toyScore({})],
      ['Nothing of that.', toyScore({})],
      ['A KIND and nice person', toyScore({ kind: 1, nice: 1 })],
      ['idiot, idiot!', toyScore({ idiot: 2 })],
      ['I hate this awful idiot', toyScore({ hate: 1, awful: 1, idiot: 1 })],
      ['kindness hates idiots', toyScore({})],
      ['\uff49\uff44\uff49\uff4f\uff54', toyScore({ idiot: 1 })],
    ];
    const scores = await scorer(cases.map(([text]) => text));
    cases.forEach(([text, expected], index) => {
      expect(scores[index], text).to.be.closeTo(expected, 1e-6);
    });
    expect(scorer.label).to.equal('toy classifier for tests');
    expect(await scoreToxicity(['idiot'], scorer)).to.have.length(1);
    scorer.dispose();
  });

  it('is independent of the batch size', async () => {
    const texts = Array.from({ length: 11 }, (_, index) => 'idiot nice '.repeat(index));
    const results = [];
    for (const batchSize of [1, 4, 11, 64]) {
      const scorer = await tfjsToxicityScorer(TOY_FOLDER, { backend, batchSize });
      results.push(await scorer(texts));
      expect(await scorer([])).to.deep.equal([]);
      scorer.dispose();
    }
    for (const scores of results) expect(scores).to.deep.equal(results[0]);
  });

  it('leaves no tensors except its weights, and none after dispose', async () => {
    const { tf } = await loadTensorflow({ backend });
    const before = tf.memory().numTensors;
    const scorer = await tfjsToxicityScorer(TOY_FOLDER, { backend, batchSize: 2 });
    const loaded = tf.memory().numTensors;
    expect(loaded - before).to.equal(2);
    await scorer(['idiot', 'nice', 'kind']);
    await scorer(['awful']);
    expect(tf.memory().numTensors).to.equal(loaded);
    scorer.dispose();
    expect(tf.memory().numTensors).to.equal(before);
  });

  it('encodes a "sequence" as the word\'s index plus 2, 1 for others, 0 after the end, cut at max_length', async () => {
    // Embeddings of one number: 0 after the end, 1 for others, then 10, 20; their mean over 4 positions, divided by 10.
    const { tf } = await loadTensorflow({ backend });
    const model = tf.sequential({
      layers: [
        tf.layers.embedding({ inputDim: 4, outputDim: 1, inputLength: 4 }),
        tf.layers.globalAveragePooling1d({}),
        tf.layers.dense({ units: 2, activation: 'linear' }),
      ],
    });
    tf.tidy(() => {
      model.setWeights([tf.tensor2d([0, 1, 10, 20], [4, 1]), tf.tensor2d([0, 0.02], [1, 2]), tf.tensor1d([-1, 0])]);
    });
    await model.save(
      tf.io.withSaveHandler(async ({ modelTopology, weightSpecs, weightData }) => {
        const weightsManifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
        await writeFile(path.join(folder, 'model.json'), JSON.stringify({ modelTopology, weightsManifest }));
        await writeFile(path.join(folder, 'weights.bin'), Buffer.from(tf.io.CompositeArrayBuffer.join(weightData)));
        return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' as const } };
      }),
    );
    model.dispose();
    await edit('vocabulary.json', (json) => ({
      ...json,
      input: 'sequence',
      max_length: 4,
      words: ["don't", 'b'],
      output: 1,
    }));
    const scorer = await tfjsToxicityScorer(folder, { backend });
    const scores = await scorer(['', 'Don\u2019t b', 'b b b b b b', 'x y b']);
    const expected = [0, 30, 80, 22].map((sum) => (0.02 * sum) / 4);
    expected.forEach((score, index) => {
      expect(scores[index]).to.be.closeTo(score, 1e-6);
    });
    scorer.dispose();
  });

  async function edit(name: string, change: (json: Record<string, unknown>) => object): Promise<void> {
    const position = path.join(folder, name);
    await writeFile(
      position,
      JSON.stringify(change(JSON.parse(await readFile(position, 'utf8')) as Record<string, unknown>)),
    );
  }

  const manifest = (paths: readonly string[]) => (json: Record<string, unknown>) => ({
    ...json,
    weightsManifest: [{ ...(json['weightsManifest'] as object[])[0], paths }],
  });

  const broken: readonly (readonly [string, () => Promise<unknown>, string])[] = [
    ['no vocabulary', () => rm(path.join(folder, 'vocabulary.json')), 'vocabulary.json: there is no such file'],
    ['no model', () => rm(path.join(folder, 'model.json')), 'model.json: there is no such file'],
    ['no weights', () => rm(path.join(folder, 'weights.bin')), 'weights.bin: there is no such file'],
    ['no folder', () => rm(folder, { recursive: true }), 'there is no such file'],
    [
      'half a JSON',
      () => writeFile(path.join(folder, 'model.json'), '{"modelTopology": {'),
      'model.json: it is not complete JSON',
    ],
    ['no topology', () => edit('model.json', () => ({})), 'model.json: modelTopology'],
    ['weights cut short', () => writeFile(path.join(folder, 'weights.bin'), new Uint8Array(8)), 'model.json:'],
    [
      'weights elsewhere',
      () => edit('model.json', manifest(['../weights.bin'])),
      "it names weights outside the folder: '../weights.bin'",
    ],
    ['weights at an address', () => edit('model.json', manifest(['https://example.org/w.bin'])), 'outside the folder'],
    [
      'an unknown layer',
      () =>
        edit('model.json', (json) => ({
          ...json,
          modelTopology: {
            class_name: 'Sequential',
            config: { name: 'x', layers: [{ class_name: 'Magic', config: {} }] },
          },
        })),
      'model.json: Unknown layer: Magic',
    ],
    ['another format', () => edit('vocabulary.json', (json) => ({ ...json, format: 'x' })), 'vocabulary.json: format'],
    [
      'an unknown input',
      () => edit('vocabulary.json', (json) => ({ ...json, input: 'letters' })),
      'vocabulary.json: input',
    ],
    [
      'a sequence without its length',
      () => edit('vocabulary.json', (json) => ({ ...json, input: 'sequence' })),
      'vocabulary.json: max_length',
    ],
    ['no words', () => edit('vocabulary.json', (json) => ({ ...json, words: [] })), 'vocabulary.json: words'],
    [
      'a word too few',
      () => edit('vocabulary.json', (json) => ({ ...json, words: ['kind'] })),
      'its input takes 5 numbers per text, but vocabulary.json defines 1',
    ],
    [
      'an output that is not there',
      () => edit('vocabulary.json', (json) => ({ ...json, output: 1 })),
      'its output has 1 columns, but vocabulary.json names column 1',
    ],
  ];
  for (const [title, change, reason] of broken) {
    it(`rejects a folder with ${title}`, async () => {
      await change();
      const error = await tfjsToxicityScorer(folder, { backend }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(DataValidationError).with.property('message').that.includes(reason);
    });
  }

  it('frees a model that does not fit', async () => {
    const { tf } = await loadTensorflow({ backend });
    const before = tf.memory().numTensors;
    await edit('vocabulary.json', (json) => ({ ...json, output: 1 }));
    await tfjsToxicityScorer(folder, { backend }).catch(() => undefined);
    expect(tf.memory().numTensors).to.equal(before);
  });

  for (const batchSize of [0, 1.5, NaN]) {
    it(`rejects a batch size of ${batchSize}`, async () => {
      const error = await tfjsToxicityScorer(TOY_FOLDER, { batchSize }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ValueError).with.property('message').that.includes('batchSize');
    });
  }
});
