import { expect } from 'chai';

import { doctorDocument } from '../../src/cli/commands/doctor.ts';
import { documentToText } from '../../src/document/document-to-text.ts';
import type { DoctorReport } from '../../src/integration/doctor.ts';
import { runCli } from '../helpers/run-cli.ts';
import { softwareGpuEnv } from '../helpers/software-gpu.ts';

const REPORT: DoctorReport = {
  version: '1.2.3',
  node: '20.0.0',
  chosen: 'webgpu',
  adapter: 'nvidia A100',
  matmul_ms: 1.26,
  advice: null,
  numerics: null,
  backends: [
    {
      name: 'node-gpu',
      available: false,
      reason: 'no driver',
      missing: [
        {
          what: 'no driver',
          mend: 'Install the driver, which is a long story that goes on and on:\nget driver --with an-option',
        },
        { what: 'no library', mend: 'Install it.' },
      ],
    },
    { name: 'webgpu', available: true, reason: null, missing: [] },
    {
      name: 'node',
      available: false,
      reason: 'absent',
      missing: [{ what: 'absent', mend: 'Install it with:\nnpm install node' }],
    },
  ],
};

const FINDING = { op: 'softRates', name: 'means', tolerance: 1e-5, reads: 1, leaked: 0, ms: 2 };

/** Returns the length of the longest line. */
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

type TextOptions = Parameters<typeof doctorDocument>[1] & { readonly width?: number };

/** Returns the text of a report without colours. */
function textOf(report: DoctorReport, { width = 80, ...options }: TextOptions = {}): string {
  return documentToText(doctorDocument(report, options), { width, colours: false });
}

describe('the output of doctor', () => {
  it('names the version, the backend with its device, and every backend with its reason', () => {
    const text = textOf(REPORT);
    expect(text).to.match(
      /^evenhand 1\.2\.3 on Node 20\.0\.0\nTensor backend: webgpu \(nvidia A100\)\. [^]* 1\.3 ms\.\n/,
    );
    expect(text).to.match(/^node-gpu +no +no driver$/m);
    expect(text).to.match(/^webgpu +yes$/m);
  });

  it('wraps a long reason in its column, within the width', () => {
    const reason = 'word '.repeat(60).trim();
    const backends = REPORT.backends.map((one) => (one.name === 'node' ? { ...one, reason } : one));
    for (const width of [60, 80, 100]) {
      const text = textOf({ ...REPORT, backends, adapter: reason }, { width });
      expect(widest(text)).to.be.within(width - 5, width);
      expect(text).to.match(/^node +no +word( word)+\n {21}word( word)+$/m);
      expect(text.split('word')).to.have.length(2 * 60 + 1);
    }
  });

  it('numbers the steps, wraps sentences but not commands, and starts with the GPU', () => {
    const text = textOf(REPORT, { width: 40, all: true });
    expect(text.slice(text.indexOf('To use'))).to.equal(
      [
        'To use the GPU, follow these steps in',
        'order',
        '',
        'node-gpu',
        '',
        '1. No driver. Install the driver, which',
        'is a long story that goes on and on:',
        '',
        '  get driver --with an-option',
        '',
        '2. No library. Install it.',
        '',
        "To use TensorFlow's native library on",
        'the CPU, without a GPU',
        '',
        'node',
        '',
        '1. Absent. Install it with:',
        '',
        '  npm install node',
        '',
      ].join('\n'),
    );
  });

  it('explains what the backends need with `all`, or for the backend that cannot start', () => {
    expect(textOf(REPORT)).not.to.include('npm install node');
    const failed = textOf({ ...REPORT, advice: 'The reason.' }, { failed: 'node' });
    expect(failed).to.match(/^No backend node\n {2}The reason\.\n\nevenhand/);
    expect(failed).to.include('npm install node').and.not.include('get driver');
  });

  it('lists routes to the GPU as alternatives: fewest steps first, webgpu if equal, and node last', () => {
    const part = { what: 'absent', mend: 'Get it.' };
    const one = (name: 'node-gpu' | 'webgpu' | 'node', parts: number) => ({
      name,
      available: false,
      reason: 'absent',
      missing: Array.from({ length: parts }, () => part),
    });
    const order = (gpu: number, webgpu: number): string[] =>
      textOf(
        { ...REPORT, backends: [one('node-gpu', gpu), one('webgpu', webgpu), one('node', 1)] },
        { all: true, width: Infinity },
      )
        .split('\n')
        .filter((line) => /^(node-gpu|webgpu|node|To .*)$/.test(line));
    const routes = 'To use the GPU, follow one of these routes; the one with the fewest steps is first';
    const without = "To use TensorFlow's native library on the CPU, without a GPU";
    expect(order(3, 2)).to.deep.equal([routes, 'webgpu', 'node-gpu', without, 'node']);
    expect(order(2, 3)).to.deep.equal([routes, 'node-gpu', 'webgpu', without, 'node']);
    expect(order(2, 2)).to.deep.equal([routes, 'webgpu', 'node-gpu', without, 'node']);
    expect(textOf({ ...REPORT, backends: [one('webgpu', 0)] }, { all: true })).not.to.include('To use');
  });

  const FINDINGS = [
    { ...FINDING, error: 0, passes: true, reason: null },
    { ...FINDING, error: 0.25, passes: false, reason: 'an error of 2.5e-1, more than 1.0e-5' },
    {
      ...FINDING,
      op: 'matMul',
      name: 'sizes',
      error: null,
      passes: false,
      reason: `no such kernel${' at all'.repeat(20)}`,
    },
  ];

  it('starts with the number of correct results and the wrong ones', () => {
    const text = textOf({ ...REPORT, numerics: FINDINGS });
    expect(text).to.match(
      /^FAIL: 1 of 3 results of 2 tensor operations are correct\n {2}softRates: means: an error of 2\.5e-1, more than 1\.0e-5\n {2}matMul: sizes: no such kernel/,
    );
    expect(widest(text)).to.be.within(70, 80);
    expect(textOf({ ...REPORT, numerics: FINDINGS.slice(0, 1) })).to.match(
      /^PASS: 1 of 1 results of 1 tensor operation are correct\n\nevenhand/,
    );
  });

  it('prints every result with `all`, within the width', () => {
    const long = { ...FINDING, name: 'groups '.repeat(30).trim(), error: 0, passes: true, reason: null };
    const text = textOf({ ...REPORT, numerics: [...FINDINGS, long] }, { all: true });
    expect(text).to.match(/^softRates +means +0 +1\.0e-5 +1 +yes$/m);
    expect(text).to.match(/^softRates +means +2\.5e-1 +1\.0e-5 +1 +no$/m);
    expect(widest(text)).to.be.within(70, 80);
  });
});

describe('evenhand doctor', function () {
  this.timeout(200_000);
  type Reported = DoctorReport;

  it('checks no operation by default, and reports what every backend needs', async () => {
    const { code, stdout } = await runCli(['doctor', '--json']);
    const report = JSON.parse(stdout) as Reported;
    expect(code).to.equal(0);
    expect(report).to.have.all.keys(
      'version',
      'node',
      'chosen',
      'backends',
      'adapter',
      'matmul_ms',
      'advice',
      'numerics',
    );
    expect(report.numerics).to.equal(null);
    expect(report.adapter).to.equal(null);
    for (const { available, missing } of report.backends) {
      if (available) expect(missing).to.deep.equal([]);
      for (const part of missing) expect(part).to.have.all.keys('what', 'mend');
    }
  });

  it('checks every operation on the named backend with --numerics @slow', async () => {
    const { code, stdout } = await runCli(['doctor', '--numerics', '--backend', 'cpu', '--json']);
    const { chosen, numerics } = JSON.parse(stdout) as Reported;
    expect(chosen).to.equal('cpu');
    expect(numerics?.length).to.be.greaterThan(20);
    expect(numerics?.filter(({ passes }) => !passes)).to.deep.equal([]);
    expect(code).to.equal(0);
  });

  it('prints what to install if the backend of --backend cannot start, and exits with 2', async () => {
    // The package of this name in the checkout is a stub without a native library.
    const { code, stdout } = await runCli(['doctor', '--backend', 'node']);
    expect(stdout).to.match(/^No backend node\n {2}The tensor backend 'node' cannot start: /);
    expect(stdout).to.match(
      /\nnode\n\n1\. [^]+?Build it against\sTensorFlow[^]+?:\n\n {2}npx evenhand backend install node\n/,
    );
    expect(code).to.equal(2);
  });

  it('treats EVENHAND_TF_BACKEND like --backend, and an empty value like an unset one', async () => {
    const named = await runCli(['doctor'], { env: { EVENHAND_TF_BACKEND: 'node' } });
    expect(named.stdout).to.match(/^No backend node\n {2}The tensor backend 'node' cannot start: /);
    expect(named.code).to.equal(2);
    const empty = await runCli(['doctor', '--json'], { env: { EVENHAND_TF_BACKEND: '' } });
    const auto = await runCli(['doctor', '--json', '--backend', 'auto']);
    expect(empty.code).to.equal(0);
    expect((JSON.parse(empty.stdout) as Reported).chosen).to.equal((JSON.parse(auto.stdout) as Reported).chosen);
  });

  it('rejects an unknown backend and names the known ones', async () => {
    const { code, stderr } = await runCli(['doctor', '--backend', 'tpu']);
    expect(stderr).to.include("auto, node-gpu, webgpu, node, wasm, cpu. Got 'tpu' instead.");
    expect(code).to.equal(2);
  });

  it('names the software adapter only if webgpu is examined @slow', async function () {
    const environment = softwareGpuEnv();
    if (environment === null) {
      console.log('      skipped: no software GPU (libvulkan1 and chromium, or Mesa)');
      this.skip();
    }
    const env = { ...environment };
    const named = JSON.parse((await runCli(['doctor', '--json', '--backend', 'webgpu'], { env })).stdout) as Reported;
    expect([named.chosen, named.adapter]).to.satisfy(
      ([chosen, adapter]: [string, string]) => chosen === 'webgpu' && adapter.endsWith(', software'),
    );
    const auto = JSON.parse((await runCli(['doctor', '--json', '--backend', 'auto'], { env })).stdout) as Reported;
    expect(auto.chosen).to.not.equal('webgpu');
    expect(auto.adapter).to.equal(null);
    const { available, reason } = auto.backends.find(({ name }) => name === 'webgpu') ?? {};
    expect(available).to.equal(false);
    expect(reason).to.match(/^the only adapter is a software adapter/);
  });
});
