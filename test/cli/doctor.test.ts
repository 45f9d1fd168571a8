import { expect } from 'chai';

import { backendsText, mendsText, numericsText } from '../../src/cli/doctor-text.ts';
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

describe('what doctor prints', () => {
  it('names the version, the backend with its device, and every backend with its reason', () => {
    const text = backendsText(REPORT);
    expect(text).to.match(/^evenhand 1\.2\.3 on Node 20\.0\.0\ntensor backend: webgpu \(nvidia A100\)\n.*: 1\.3 ms\n/);
    expect(text).to.match(/^node-gpu +no +no driver$/m);
    expect(text).to.match(/^webgpu +yes$/m);
  });

  it('numbers the steps, breaks what is said and never a command, and begins with what misses least', () => {
    expect(mendsText(REPORT.backends, 40)).to.equal(
      [
        'node',
        '  1. absent',
        '     Install it with:',
        '       npm install node',
        '',
        'node-gpu',
        '  1. no driver',
        '     Install the driver, which is a long',
        '     story that goes on and on:',
        '       get driver --with an-option',
        '  2. no library',
        '     Install it.',
      ].join('\n'),
    );
  });

  it('tells how each op answered, and counts what is right', () => {
    const text = numericsText([
      { ...FINDING, error: 0, passes: true, reason: null },
      { ...FINDING, error: 0.25, passes: false, reason: 'an error of 2.5e-1, beyond 1.0e-5' },
      { ...FINDING, error: null, passes: false, reason: 'no such kernel' },
    ]);
    expect(text).to.match(/^softRates +means +0 +1\.0e-5 +1 +yes$/m);
    expect(text).to.match(/^softRates +means +2\.5e-1 +1\.0e-5 +1 +no: an error of 2\.5e-1, beyond 1\.0e-5$/m);
    expect(text).to.match(/ no: no such kernel$/m);
    expect(text).to.match(/\n\n1 of 3 answers are right\.$/);
  });
});

describe('evenhand doctor', function () {
  this.timeout(200_000);
  type Told = DoctorReport;

  it('asks no op unless it is told to, and tells what every backend misses', async () => {
    const { code, stdout } = await runCli(['doctor', '--json']);
    const report = JSON.parse(stdout) as Told;
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

  it('--numerics asks every op on the backend that is named', async () => {
    const { code, stdout } = await runCli(['doctor', '--numerics', '--backend', 'cpu', '--json']);
    const { chosen, numerics } = JSON.parse(stdout) as Told;
    expect(chosen).to.equal('cpu');
    expect(numerics?.length).to.be.greaterThan(20);
    expect(numerics?.filter(({ passes }) => !passes)).to.deep.equal([]);
    expect(code).to.equal(0);
  });

  it('--backend with one that cannot start tells what to mend, and is exit code 2', async () => {
    // The package of this name in the checkout is a stand-in without a native library.
    const { code, stdout } = await runCli(['doctor', '--backend', 'node']);
    expect(stdout).to.include("The tensor backend 'node' cannot start: ");
    expect(stdout).to.match(
      /\nnode\n {2}1\. .*\n {5}Install it with:\n {7}npm install @tensorflow\/tfjs-node@4\.22\.0\n/,
    );
    expect(code).to.equal(2);
  });

  it('an unknown backend is an error that names the known ones', async () => {
    const { code, stderr } = await runCli(['doctor', '--backend', 'tpu']);
    expect(stderr).to.include("auto, node-gpu, webgpu, node, wasm, cpu. Got 'tpu' instead.");
    expect(code).to.equal(2);
  });

  it('names the software adapter only where webgpu is examined', async function () {
    const environment = softwareGpuEnv();
    if (environment === null) {
      console.log('      skipped: no software GPU (libvulkan1 and chromium, or Mesa)');
      this.skip();
    }
    const env = { ...environment };
    const named = JSON.parse((await runCli(['doctor', '--json', '--backend', 'webgpu'], { env })).stdout) as Told;
    expect([named.chosen, named.adapter]).to.satisfy(
      ([chosen, adapter]: [string, string]) => chosen === 'webgpu' && adapter.endsWith(', software'),
    );
    const auto = JSON.parse((await runCli(['doctor', '--json', '--backend', 'auto'], { env })).stdout) as Told;
    expect(auto.chosen).to.not.equal('webgpu');
    expect(auto.adapter).to.equal(null);
    const { available, reason } = auto.backends.find(({ name }) => name === 'webgpu') ?? {};
    expect(available).to.equal(false);
    expect(reason).to.match(/^the only adapter is a software one/);
  });
});
