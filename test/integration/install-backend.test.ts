import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ConfigValidationError, DependencyError } from '../../src/exceptions/index.ts';
import {
  installBackend,
  type InstallBackendOptions,
  missingToInstall,
  type RunTool,
} from '../../src/integration/install-backend.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(file: string, text = ''): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Machine extends InstallBackendOptions {
  readonly prefix: string;
  readonly cache: string;
  /** The programs that were run, with their arguments. */
  readonly calls: string[];
}

/** Creates a project with TensorFlow.js, and programs that write the files that the real ones would write. */
function makeMachine(
  name: string,
  programs: Readonly<Record<string, string | (() => string)>> = {},
  pip = '24.1',
): Machine {
  const prefix = path.join(folder(), name, 'project');
  write(path.join(prefix, 'node_modules/@tensorflow/tfjs/package.json'), '{"name":"@tensorflow/tfjs"}');
  const calls: string[] = [];
  const runTool: RunTool = (command, args, { onLine } = {}) => {
    const program = path.basename(command);
    calls.push([program, ...args].join(' '));
    const own = programs[program];
    const failure = new DependencyError(`'${program}' failed: ${String(own)}.`);
    if (typeof own === 'string' && (program !== 'g++' || own === 'not found' || args.includes('-shared'))) {
      return Promise.reject(failure);
    }
    if (typeof own === 'function') return Promise.resolve(own());
    if (args.join(' ') === '-m pip --version') return Promise.resolve(`pip ${pip} from /usr/lib (python 3.12)\n`);
    const target = args[args.indexOf('--target') + 1] ?? '';
    if (program === 'python3' && args.includes('--target')) {
      onLine?.('Progress 10 of 40');
      if (target.endsWith('cuda')) write(path.join(target, 'nvidia/cudnn/lib/libcudnn.so.9'));
      else writeWheel(target);
    } else if (program === 'npm' && args.at(-1)?.startsWith('@tensorflow') === true) {
      writePackage(args[args.indexOf('--prefix') + 1] ?? '', args.at(-1)?.replace(/@4.*/, '') ?? '');
    } else if (args.includes('-shared')) {
      write(args[args.indexOf('-o') + 1] ?? '', 'the addon');
    } else if (args[0] === '-e') {
      return Promise.resolve('{"sum":64,"gpu":false}\n');
    }
    return Promise.resolve('');
  };
  return { prefix, cache: path.join(folder(), name, 'cache'), runTool, calls };
}

function writeWheel(target: string): void {
  for (const file of ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2', 'include/c_api.h', 'python/unused.py']) {
    write(path.join(target, 'tensorflow', file));
  }
  write(
    path.join(target, 'tensorflow-2.21.0.dist-info/METADATA'),
    [
      'Requires-Dist: numpy>=1.26.0',
      'Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"',
      'Requires-Dist: nvidia-nccl-cu12 <3.0,>=2.25.1; extra == "and-cuda"',
    ].join('\n'),
  );
}

function writePackage(prefix: string, name: string): void {
  const target = path.join(prefix, 'node_modules', name);
  write(path.join(target, 'package.json'), JSON.stringify({ name, version: '4.22.0' }));
  write(path.join(target, 'binding/tfjs_backend.cc'));
  write(path.join(target, 'binding/tfjs_backend.h'));
  write(path.join(target, 'deps/lib/libtensorflow.so.2'), 'an older library');
  write(path.join(target, 'node_modules/@tensorflow/tfjs/package.json'));
  write(path.join(target, 'node_modules/progress/package.json'));
}

async function errorOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail('it did not throw'),
    (error: unknown) => error as Error,
  );
}

/** Returns the names of all files and folders below a folder that are not finished. */
function unfinished(root: string): string[] {
  return existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\.tmp|\.partial|(?:^|\/)work$/.test(name),
      )
    : [];
}

const NODE = 'node_modules/@tensorflow/tfjs-node';

describe('installBackend', () => {
  it('gets the library, gets the package, compiles the addon, and multiplies', async () => {
    const machine = makeMachine('all');
    const events: string[] = [];
    const installed = await installBackend('node', {
      ...machine,
      onProgress: ({ stage, done, total }) => events.push(`${String(done)}/${String(total)} ${stage}`),
    });
    const built = path.join(machine.prefix, NODE);
    const library = path.join(machine.cache, 'tensorflow-cpu-2.21.0/tensorflow');
    expect(installed).to.deep.equal({
      backend: 'node',
      package: '@tensorflow/tfjs-node@4.22.0',
      tensorflow: '2.21.0',
      folder: built,
      library,
      uses_gpu: false,
    });
    expect(events).to.deep.equal([
      '0/4 checking the machine',
      '1/4 downloading TensorFlow 2.21.0 (0.3 GB)',
      '10/40 downloading tensorflow-cpu',
      '2/4 getting @tensorflow/tfjs-node 4.22.0',
      '3/4 compiling the addon (up to a minute)',
      '4/4 done',
    ]);
    expect(readdirSync(library).sort()).to.deep.equal([
      'include',
      'libtensorflow_cc.so.2',
      'libtensorflow_framework.so.2',
    ]);
    expect(readFileSync(path.join(built, 'lib/napi-v8/tfjs_binding.node'), 'utf8')).to.equal('the addon');
    expect(readdirSync(path.join(built, 'deps/lib')).sort()).to.deep.equal([
      'libtensorflow_cc.so.2',
      'libtensorflow_framework.so.2',
    ]);
    expect(readlinkSync(path.join(built, 'deps/lib/libtensorflow_cc.so.2'))).to.equal(
      path.join(library, 'libtensorflow_cc.so.2'),
    );
    // The tensors of the project and of the package must be of the same TensorFlow.js.
    expect(readdirSync(path.join(built, 'node_modules'))).to.deep.equal(['progress']);
    expect(machine.calls.find((call) => call.startsWith('npm'))).to.include('--ignore-scripts');
    const compiled = machine.calls.find((call) => call.includes('-shared')) ?? '';
    expect(compiled).to.include('tfjs_backend.cc').and.not.include('tfjs_backend.h');
    expect(compiled).to.include('-Wl,-rpath,$ORIGIN/../../deps/lib');
    expect(unfinished(path.join(folder(), 'all'))).to.deep.equal([]);
  });

  // From the changes of pip: --root-user-action is new in 22.1, and the progress bar 'raw' in 24.1.
  for (const [pip, expected] of [
    ['20.3.4', []],
    ['23.2.1', ['--root-user-action ignore']],
    ['24.0', ['--root-user-action ignore']],
    ['24.1', ['--root-user-action ignore', '--progress-bar raw']],
    ['26.0.1', ['--root-user-action ignore', '--progress-bar raw']],
  ] as const) {
    it(`passes pip ${pip} only arguments that it knows`, async () => {
      const machine = makeMachine(`pip-${pip}`, {}, pip);
      await installBackend('node', machine);
      const download = machine.calls.find((call) => call.includes('--target')) ?? '';
      expect(download.match(/--root-user-action \w+|--progress-bar \w+/g) ?? []).to.deep.equal(expected);
    });
  }

  it('downloads nothing the second time', async () => {
    const machine = makeMachine('twice');
    await installBackend('node', machine);
    machine.calls.length = 0;
    await installBackend('node', machine);
    expect(machine.calls.filter((call) => /^(?:python3|npm)/.test(call))).to.deep.equal([]);
    expect(machine.calls.filter((call) => call.includes('-shared'))).to.have.length(1);
  });

  it('installs from a folder of wheels without a package index', async () => {
    const machine = makeMachine('offline');
    await installBackend('node', { ...machine, wheels: path.join(folder(), 'wheels') });
    const download = machine.calls.find((call) => call.includes('--target')) ?? '';
    expect(download).to.include(`--no-index --find-links ${path.join(folder(), 'wheels')}`);
    expect(download).to.match(/ tensorflow-cpu==2\.21\.0$/);
  });

  it('gets the libraries of CUDA that the wheel names, for the backend node-gpu', async () => {
    const machine = makeMachine('gpu');
    const { folder: built, library } = await installBackend('node-gpu', machine);
    expect(
      machine.calls.filter((call) => call.includes('--target')).map((call) => call.split('/').at(-1)),
    ).to.deep.equal([
      'wheel tensorflow==2.21.0',
      'cuda nvidia-cudnn-cu12<10.0,>=9.3.0.75 nvidia-nccl-cu12<3.0,>=2.25.1',
    ]);
    expect(readlinkSync(path.join(built, 'deps/nvidia'))).to.equal(path.join(path.dirname(library), 'nvidia'));
    expect(readlinkSync(path.join(built, 'deps/tensorrt'))).to.equal('nvidia/cusolver/lib');
    expect(existsSync(path.join(built, 'deps/nvidia/cudnn/lib/libcudnn.so.9'))).to.equal(true);
  });

  it('names everything that the machine lacks, in one error, before it downloads anything', async () => {
    const machine = makeMachine('bare', { 'g++': 'not found', python3: 'not found' });
    const error = await errorOf(installBackend('node', machine));
    expect(error).to.be.instanceOf(DependencyError);
    expect(error.message).to.equal(
      "The backend 'node' cannot be installed: the C++ compiler 'g++' was not found; Python's installer pip was not found (python3 -m pip).",
    );
    expect(error).to.have.property('suggestion').that.includes('apt-get install g++').and.includes('python3-pip');
    expect(machine.calls.filter((call) => /install --|npm/.test(call))).to.deep.equal([]);
  });

  it('needs no pip if the library is there', async () => {
    const machine = makeMachine('kept');
    await installBackend('node', machine);
    const later = makeMachine('kept', { python3: 'not found' });
    expect(await missingToInstall('node', later)).to.deep.equal([]);
  });

  it('rejects a folder without TensorFlow.js', async () => {
    const machine = makeMachine('elsewhere');
    rmSync(path.join(machine.prefix, 'node_modules'), { recursive: true });
    const error = await errorOf(installBackend('node', machine));
    expect(error).to.be.instanceOf(ConfigValidationError);
    expect(error.message).to.include(`'${machine.prefix}' has no TensorFlow.js`);
  });

  for (const [what, programs, message] of [
    ['the compiler fails', { 'g++': 'no such header' }, /no such header/],
    [
      'the addon computes wrongly',
      { node: () => '{"sum":63}' },
      /computes a wrong result: the sum is 63 instead of 64/,
    ],
    ['the addon cannot be loaded', { node: 'undefined symbol: TF_NewStatus' }, /undefined symbol/],
  ] as const) {
    it(`leaves the earlier package if ${what}`, async () => {
      const name = what.replaceAll(' ', '-');
      await installBackend('node', makeMachine(name));
      const built = path.join(folder(), name, 'project', NODE);
      write(path.join(built, 'marker'));
      const error = await errorOf(installBackend('node', makeMachine(name, programs)));
      expect(error.message).to.match(message);
      expect(existsSync(path.join(built, 'marker'))).to.equal(true);
      expect(lstatSync(path.join(built, 'deps/lib/libtensorflow_cc.so.2')).isSymbolicLink()).to.equal(true);
      expect(unfinished(path.join(folder(), name))).to.deep.equal([]);
    });
  }

  for (const fails of [false, true]) {
    it(`does not write through a link in node_modules${fails ? ', and restores it after an error' : ''}`, async () => {
      const machine = makeMachine(`link-${String(fails)}`, fails ? { 'g++': 'exit code 1' } : {});
      const store = path.join(folder(), `store-${String(fails)}`);
      write(path.join(store, 'package.json'), '{"name":"another package"}');
      const link = path.join(machine.prefix, 'node_modules/@tensorflow/tfjs-node');
      symlinkSync(store, link);
      const result = await installBackend('node', machine).then(
        () => 'installed',
        () => 'failed',
      );
      expect(result).to.equal(fails ? 'failed' : 'installed');
      expect(readdirSync(store)).to.deep.equal(['package.json']);
      expect(lstatSync(link).isSymbolicLink()).to.equal(fails);
      if (!fails) expect(existsSync(path.join(link, 'deps/lib/libtensorflow_cc.so.2'))).to.equal(true);
    });
  }

  it('leaves no part of a library whose download fails', async () => {
    const machine = makeMachine('broken-download');
    const { runTool } = machine;
    const failing: RunTool = (command, args, options) => {
      if (!args.includes('--target')) return (runTool as RunTool)(command, args, options);
      write(path.join(args[args.indexOf('--target') + 1] ?? '', 'tensorflow/libtensorflow_cc.so.2'));
      return Promise.reject(new DependencyError("'python3' failed: Connection reset by peer."));
    };
    const error = await errorOf(installBackend('node', { ...machine, runTool: failing }));
    expect(error.message).to.include('Connection reset by peer');
    expect(readdirSync(machine.cache)).to.deep.equal([]);
    expect(existsSync(path.join(machine.prefix, NODE))).to.equal(false);
  });
});

describe('evenhand backend install', () => {
  it('rejects an unknown backend and names the others', async () => {
    const { code, stderr } = await runCli(['backend', 'install', 'cuda']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/'cuda'.*node, node-gpu/);
  });

  it('--dry-run says what is missing, and exits with 2', async () => {
    const { code, stdout } = await runCli(['backend', 'install', 'node', '--dry-run', '--cache', folder()], {
      env: { CXX: 'no-such-compiler' },
      cwd: process.cwd(),
    });
    expect([code, stdout]).to.deep.equal([
      2,
      "- the C++ compiler 'no-such-compiler' was not found. Install one (or name another in the variable CXX):\napt-get install g++\n",
    ]);
  });
});
