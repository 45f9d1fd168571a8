import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, DependencyError, ValueError } from '../../../src/exceptions/index.ts';
import { type OnnxRuntime, onnxToxicityScorer } from '../../../src/llm-evals/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

class Tensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: number[];

  constructor(type: 'string' | 'int64', data: unknown, dims: number[]) {
    [this.type, this.data, this.dims] = [type, data, dims];
  }
}

type Inputs = Readonly<Record<string, Tensor>>;

/** A runtime whose model is a function. Keeps the inputs of every call. */
function runtimeOf(
  inputNames: readonly string[],
  model: (inputs: Inputs) => Tensor | { data: unknown; dims: number[] },
): {
  readonly runtime: OnnxRuntime;
  readonly calls: Inputs[];
} {
  const calls: Inputs[] = [];
  const session = {
    inputNames,
    outputNames: ['label', 'logits'],
    run: (inputs: unknown) => {
      calls.push(inputs as Inputs);
      return Promise.resolve({ logits: model(inputs as Inputs) });
    },
  };
  return { runtime: { InferenceSession: { create: () => Promise.resolve(session) }, Tensor }, calls };
}

/** Logits 0 and (mean of the unmasked ids) - 5. */
function meanLogits({ input_ids: ids, attention_mask: mask }: Inputs): { data: Float32Array; dims: number[] } {
  const [rows = 0, width = 0] = ids?.dims ?? [];
  const [codes, kept] = [ids, mask].map((tensor) => Array.from(tensor?.data as BigInt64Array, Number)) as [
    number[],
    number[],
  ];
  const means = Array.from({ length: rows }, (_, row) => {
    const own = codes.slice(row * width, (row + 1) * width).filter((_code, index) => kept[row * width + index] === 1);
    return own.reduce((sum, code) => sum + code, 0) / own.length;
  });
  return { data: Float32Array.from(means.flatMap((mean) => [0, mean - 5])), dims: [rows, 2] };
}

describe('onnxToxicityScorer', () => {
  const folder = useTemporaryFolder();
  const tokenize = (text: string): number[] => text.split(' ').map(Number);

  function file(): string {
    const written = path.join(folder(), 'mine.onnx');
    writeFileSync(written, 'not read by the stub');
    return written;
  }

  it('pads the tokens of each batch, and converts the logits to scores', async () => {
    const { runtime, calls } = runtimeOf(['input_ids', 'attention_mask', 'token_type_ids'], meanLogits);
    const score = await onnxToxicityScorer(file(), { runtime, tokenize, activation: 'softmax', batchSize: 2 });
    const scores = await score(['1 9', '5 5 5 8', '7']);
    // The softmax of (0, x) is 1 / (1 + exp(-x)): x is 0, 0.75 and 2.
    [0.5, 1 / (1 + Math.exp(-0.75)), 1 / (1 + Math.exp(-2))].forEach((expected, index) =>
      expect(scores[index]).to.be.closeTo(expected, 1e-6),
    );
    expect(calls.map(({ input_ids: ids }) => ids?.dims)).to.deep.equal([
      [2, 4],
      [1, 1],
    ]);
    expect(calls[0]?.['input_ids']?.data).to.deep.equal(BigInt64Array.from([1n, 9n, 0n, 0n, 5n, 5n, 5n, 8n]));
    expect(calls[0]?.['attention_mask']?.data).to.deep.equal(BigInt64Array.from([1n, 1n, 0n, 0n, 1n, 1n, 1n, 1n]));
    expect(calls[0]?.['token_type_ids']?.data).to.deep.equal(new BigInt64Array(8));
    expect(score.label).to.equal('mine.onnx');
  });

  it('truncates long texts, and reads another column with a sigmoid', async () => {
    const { runtime, calls } = runtimeOf(['input_ids', 'attention_mask'], meanLogits);
    const score = await onnxToxicityScorer(file(), {
      runtime,
      tokenize,
      maxLength: 2,
      column: 0,
      activation: 'sigmoid',
      name: 'my classifier',
    });
    expect(await score(['1 2 3 4 5'])).to.deep.equal([0.5]);
    expect(calls[0]?.['input_ids']?.dims).to.deep.equal([1, 2]);
    expect(score.label).to.equal('my classifier');
  });

  it('passes the texts to a model that has no tokens', async () => {
    const { runtime } = runtimeOf(['text'], ({ text }) => ({
      data: Float32Array.from(text?.data as string[], (each) => (each === 'bad' ? 0.75 : 0.25)),
      dims: text?.dims ?? [],
    }));
    const score = await onnxToxicityScorer(file(), { runtime });
    expect(await score(['bad', 'fine'])).to.deep.equal([0.75, 0.25]);
    expect(await score([])).to.deep.equal([]);
  });

  it('names the package to install if there is no runtime', async () => {
    const error = await onnxToxicityScorer(file()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DependencyError);
    expect((error as DependencyError).suggestion).to.equal('Install it with: npm install onnxruntime-node@1');
  });

  it('names the problem of a model that does not fit', async () => {
    const failure = async (run: Promise<unknown>): Promise<string> => {
      const error = await run.catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(DataValidationError);
      return (error as DataValidationError).message;
    };
    const { runtime } = runtimeOf(['input_ids', 'attention_mask'], meanLogits);
    expect(await failure(onnxToxicityScorer('none.onnx', { runtime }))).to.equal(
      "Cannot use the ONNX model 'none.onnx': there is no such file.",
    );
    expect(await failure(onnxToxicityScorer(file(), { runtime }))).to.include(
      'it needs one input of texts, or the option tokenize; its inputs are input_ids, attention_mask',
    );
    expect(await failure(onnxToxicityScorer(file(), { runtime, tokenize, output: 'scores' }))).to.include(
      "it has no output 'scores'; its outputs are label, logits",
    );
    const score = await onnxToxicityScorer(file(), { runtime, tokenize, column: 3 });
    expect(await failure(score(['1']))).to.include('its output has the shape [1, 2] for 1 texts, without column 3');
    const broken: OnnxRuntime = {
      ...runtime,
      InferenceSession: { create: () => Promise.reject(new Error('no protobuf')) },
    };
    expect(await failure(onnxToxicityScorer(file(), { runtime: broken }))).to.include('no protobuf');
  });

  it('rejects options out of range before the model is loaded', async () => {
    for (const options of [
      { batchSize: 0 },
      { maxLength: 0.5 },
      { column: -1 },
      { activation: 'tanh' as never },
      { labl: 'x' } as never,
    ]) {
      expect(await onnxToxicityScorer('none.onnx', options).catch((thrown: unknown) => thrown)).to.be.instanceOf(
        ValueError,
      );
    }
  });
});
