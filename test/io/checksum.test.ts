import { cpSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { FileResultStore } from '../../src/api/store/index.ts';
import { DataValidationError } from '../../src/exceptions/index.ts';
import { readState } from '../../src/integration/monitor/monitor-state.ts';
import { checkJsonText, checksumOf, hashInputFile, withChecksum } from '../../src/io/checksum.ts';
import { tfjsToxicityScorer } from '../../src/llm-evals/index.ts';
import { FairnessPipeline, loadPipeline, ProxyDropper, savePipeline } from '../../src/pipeline/index.ts';
import { LogisticRegression } from '../../src/training/estimators/logistic-regression.ts';
import { loadModel } from '../../src/training/models/load-model.ts';
import { saveModel } from '../../src/training/models/save-model.ts';
import { RegularizedFairnessTrainer } from '../../src/training/networks/regularized-fairness-trainer.ts';
import { useLoggedWarnings } from '../helpers/logged-warnings.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const TOY = path.resolve(import.meta.dirname, '../../models/toy-toxicity');

async function failureOf(work: Promise<unknown>): Promise<DataValidationError> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).to.be.instanceOf(DataValidationError);
  return error as DataValidationError;
}

describe('the checksum of an input file', () => {
  const folder = useTemporaryFolder();
  // These are test vectors of NIST for SHA-256.
  const vectors: readonly (readonly [title: string, text: string, sha256: string])[] = [
    ['an empty file', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'a million times a, in several reads',
      'a'.repeat(1_000_000),
      'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
    ],
  ];
  for (const [title, text, sha256] of vectors) {
    it(`is the SHA-256 of ${title}`, async () => {
      const file = path.join(folder(), 'input.csv');
      writeFileSync(file, text);
      expect(await hashInputFile(file)).to.deep.equal({ path: file, bytes: text.length, sha256 });
    });
  }

  it('is null for a folder and a missing file', async () => {
    for (const file of [folder(), path.join(folder(), 'none.csv')]) {
      expect(await hashInputFile(file)).to.deep.equal({ path: file, bytes: null, sha256: null });
    }
  });
});

/** Flips one bit of a file and keeps its modification time. */
function flip(file: string, byte: number, bit = 0): void {
  const { atime, mtime } = statSync(file);
  const bytes = readFileSync(file);
  bytes[byte] = (bytes[byte] as number) ^ (1 << bit);
  writeFileSync(file, bytes);
  utimesSync(file, atime, mtime);
}

/** Removes the checksums, like a file of an earlier version. */
function asEarlier(file: string): void {
  const { sha256: _, checksums: __, ...json } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify(json));
}

describe('JSON with a checksum', () => {
  it('has the published SHA-256 of "abc"', () => {
    // FIPS 180-2, appendix B.1.
    expect(checksumOf('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('is the same object with one more member, written in the same way', () => {
    const value = { name: 'ä "}', list: [1, 2], deep: { a: null } };
    const compact = withChecksum(JSON.stringify(value));
    const indented = withChecksum(JSON.stringify(value, undefined, 2));
    for (const text of [compact, indented]) {
      const { sha256, ...rest } = JSON.parse(text) as Record<string, unknown>;
      expect(rest).to.deep.equal(value);
      expect(sha256).to.match(/^[0-9a-f]{64}$/);
      expect(JSON.parse(checkJsonText(text, 'file').text)).to.deep.equal(value);
    }
    expect(compact.trimEnd()).to.not.include('\n');
    expect(indented).to.match(/\n {2}"sha256": "[0-9a-f]{64}"\n}\n$/);
  });

  it('is never read as another object if any bit is flipped', () => {
    const text = withChecksum('{"rate": 0.25, "groups": ["ä", "b"], "n": 400}');
    const bytes = Buffer.from(text);
    const payload = '{"rate":0.25,"groups":["ä","b"],"n":400}';
    const readOrNull = (changed: Buffer): string | null => {
      try {
        return JSON.stringify(JSON.parse(checkJsonText(changed.toString('utf8'), 'file').text));
      } catch {
        return null;
      }
    };
    for (let index = 0; index < 8 * bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index >> 3] = (changed[index >> 3] as number) ^ (1 << (index % 8));
      expect(readOrNull(changed), `bit ${String(index)}`).to.be.oneOf([null, payload]);
    }
  });

  it('accepts a file without a checksum, and reports that it has none', () => {
    expect(checkJsonText('{"a": 1}\n', 'file')).to.deep.equal({ text: '{"a": 1}\n', hasChecksum: false });
  });
});

describe('files changed after they were saved', () => {
  const folder = useTemporaryFolder();
  const warnings = useLoggedWarnings();
  const position = (name: string): string => path.join(folder(), name);
  const copyOf = (name: string, copy: string): string => {
    cpSync(position(name), position(copy), { recursive: true });
    return position(copy);
  };
  const events = Array.from(
    { length: 300 },
    (_, row) => `{"approved":${String(row % 2)},"sex":"${row % 3 ? 'f' : 'm'}"}`,
  );

  before(async () => {
    const x = Array.from({ length: 40 }, (_, row) => row / 10);
    const y = x.map((value) => Number(value > 2));
    const sensitive = x.map((_, row) => ['a', 'b'][row % 2] as string);
    const network = new RegularizedFairnessTrainer({ epochs: 2, backend: 'cpu' });
    await saveModel(await network.fit({ x }, y, { sensitive }), position('network'));
    await saveModel(await new LogisticRegression().fit(x.map((one) => [one]), y), position('logistic'), {
      attachments: { 'notes.txt': 'as they were' },
    }); // prettier-ignore
    const dropper = new ProxyDropper({ sensitive: 's' });
    const pipeline = new FairnessPipeline([{ name: 'drop', transformer: dropper }]);
    await pipeline.fit({ s: sensitive, x, y });
    await savePipeline(pipeline, position('pipeline.json'));
    await runCli(['monitor', '--y-pred', 'approved', '--sensitive', 'sex', '--state', position('state.json')], {
      input: `${events.join('\n')}\n`,
    });
    const store = await FileResultStore.open(position('store'));
    await store.set('run-1', { secret: 'of run 1' });
    await store.set('run-2', { secret: 'of run 2' });
    await store.close();
  });

  function expectDamage({ message, suggestion }: DataValidationError, file: string): void {
    expect(message).to.include(`'${file}'`);
    expect(message).to.match(/its SHA-256 should be [0-9a-f]{64}\. Got [0-9a-f]{64} instead\.$/);
    expect(suggestion)
      .to.match(/backup/)
      .and.to.match(/save it again/);
  }

  for (const [model, name] of [
    ['network', 'weights.bin'],
    ['network', 'model.json'],
    ['network', 'card.json'],
    ['logistic', 'estimator.json'],
    ['logistic', 'weights.bin'],
    ['logistic', 'notes.txt'],
  ] as const) {
    it(`a model with one changed digit or bit in ${name} (${model}) does not load`, async () => {
      const copy = copyOf(model, `${model}-${name}`);
      const file = path.join(copy, name);
      if (name.endsWith('.json')) {
        const text = readFileSync(file, 'utf8');
        // A change that passes every other check.
        const edited = text.replace(/"(?:mean|seed|intercept|generatedBy)": ("?)/, (found) =>
          found.replace(': ', ':  '),
        );
        expect(edited).to.not.equal(text);
        writeFileSync(file, edited);
      } else flip(file, 2);
      expectDamage(await failureOf(loadModel(copy, { backend: 'cpu' })), file);
    });
  }

  it('predict with flipped weights exits with 2, and names the file', async () => {
    const copy = copyOf('network', 'flipped');
    flip(path.join(copy, 'weights.bin'), 3, 6);
    writeFileSync(position('rows.csv'), 'x\n1\n3\n');
    const { code, stdout, stderr } = await runCli(['predict', '--model', copy, '--csv', position('rows.csv'), '--out-csv', position('out.csv')]); // prettier-ignore
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.include('weights.bin');
  });

  it('a model, a pipeline and a state of an earlier version load, each with one warning', async () => {
    const model = copyOf('network', 'earlier');
    asEarlier(path.join(model, 'card.json'));
    await loadModel(model, { backend: 'cpu' });
    asEarlier(copyOf('pipeline.json', 'earlier-pipeline.json'));
    await loadPipeline(position('earlier-pipeline.json'));
    asEarlier(copyOf('state.json', 'earlier-state.json'));
    await readState(position('earlier-state.json'));
    const files = [path.join(model, 'card.json'), position('earlier-pipeline.json'), position('earlier-state.json')];
    expect(warnings()).to.have.length(3);
    files.forEach((file, index) => {
      expect(warnings()[index]).to.include(`'${file}' has no checksum; it was written by an earlier version.`);
    });
  });

  it('unchanged files load without a warning', async () => {
    await loadModel(position('network'), { backend: 'cpu' });
    await loadModel(position('logistic'));
    await loadPipeline(position('pipeline.json'));
    await readState(position('state.json'));
    expect(warnings()).to.deep.equal([]);
  });

  it('a pipeline with a changed number is rejected', async () => {
    const file = copyOf('pipeline.json', 'edited-pipeline.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/"threshold": [\d.]+/, '"threshold": 0.99'));
    expectDamage(await failureOf(loadPipeline(file)), file);
  });

  it('monitor rejects a state with a changed count with exit code 2', async () => {
    const file = copyOf('state.json', 'edited-state.json');
    const text = readFileSync(file, 'utf8');
    expect(text).to.include('"calmLooks":');
    writeFileSync(file, text.replace(/"calmLooks":\d+/, '"calmLooks":7'));
    expectDamage(await failureOf(readState(file)), file);
    const { code, stderr } = await runCli(['monitor', '--y-pred', 'approved', '--sensitive', 'sex', '--state', file], {
      input: `${events.join('\n')}\n`,
    });
    expect(code).to.equal(2);
    expect(stderr).to.include(file).and.to.include('SHA-256');
  });

  it('an edited entry of the store is reported, not listed and not returned', async () => {
    const store = copyOf('store', 'edited-store');
    const file = path.join(store, 'run-1.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('of run 1', 'forged'));
    const opened = await FileResultStore.open(store);
    try {
      expect(opened.entries()).to.deep.equal([['run-2', { secret: 'of run 2' }]]);
      expect(opened.has('run-1')).to.equal(true);
      expect(() => opened.get('run-1'))
        .to.throw(DataValidationError, /'run-1' is damaged/)
        .and.not.to.match(/forged/);
      expect(warnings()).to.have.length(1);
      expect(warnings()[0]).to.include(file).and.to.include('damaged').and.not.to.include('forged');
      expect(await opened.delete('run-1')).to.equal(true);
      expect(opened.get('run-1')).to.equal(undefined);
    } finally {
      await opened.close();
    }
  });

  it('entries of an earlier version load, with one warning for all', async () => {
    const store = copyOf('store', 'earlier-store');
    for (const id of ['run-1', 'run-2']) asEarlier(path.join(store, `${id}.json`));
    const opened = await FileResultStore.open(store);
    await opened.close();
    expect(opened.entries()).to.have.length(2);
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.include(`2 files in '${store}' have no checksum`);
  });

  it('the text classifier of the package has checksums, which are verified', async () => {
    cpSync(TOY, position('toy'), { recursive: true });
    (await tfjsToxicityScorer(position('toy'), { backend: 'cpu' })).dispose();
    flip(path.join(position('toy'), 'weights.bin'), 2);
    expectDamage(await failureOf(tfjsToxicityScorer(position('toy'), { backend: 'cpu' })), path.join(position('toy'), 'weights.bin')); // prettier-ignore
  });
});
