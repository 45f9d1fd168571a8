import { expect } from 'chai';

import { unavailable } from '../../../src/tensor/diagnosis/unavailable.ts';
import { fakeHost } from './fake-host.ts';

/** Creates an error as Node's loader throws it. */
function loaderError(text: string, from = ''): Error {
  const error = Object.assign(new Error(text), { code: 'ERR_DLOPEN_FAILED' });
  error.stack = `Error: ${text}\n    at Module._extensions..node${from}`;
  return error;
}

const GPU = '@tensorflow/tfjs-node-gpu';
const FOLDER = `/app/node_modules/${GPU}`;
const HOST = fakeHost({ packages: { [GPU]: FOLDER } });

describe('a native library that cannot be opened', () => {
  it('is removed and rebuilt if it is truncated, because the install step keeps existing files', () => {
    const { reason, missing } = unavailable(
      loaderError(`${FOLDER}/lib/napi-v8/tfjs_binding.node: file too short`),
      HOST,
    );
    expect(missing).to.have.length(1);
    expect(reason).to.equal(missing[0]?.what);
    expect(reason).to.include('tfjs_binding.node: file too short').and.not.include('\n');
    expect(missing[0]?.mend).to.include(`${FOLDER}/deps and ${FOLDER}/lib/napi-v8`);
    expect(missing[0]?.mend).to.include(`\nnpm rebuild --ignore-scripts=false ${GPU}\n`);
  });

  it('is recognised if only the stack names the package', () => {
    const error = loaderError(
      'libtensorflow.so.2: invalid ELF header',
      '\n    at Object.<anonymous> (/app/node_modules/@tensorflow/tfjs-node/dist/index.js:60:18)',
    );
    const { missing } = unavailable(error, fakeHost());
    expect(missing[0]?.mend).to.include('\nnpm rebuild --ignore-scripts=false @tensorflow/tfjs-node\n');
  });

  it('is reinstalled after its folder is removed if it belongs to Dawn, which is part of its package', () => {
    const { missing } = unavailable(
      loaderError('/a/node_modules/webgpu/dist/linux-x64/dawn.node: file too short'),
      HOST,
    );
    expect(missing[0]?.mend).to.match(/^Remove the folder .*:\nnpm install webgpu@0\.6\.2 /);
  });

  it('is not fixed by a reinstall if another library is missing', () => {
    const { missing } = unavailable(
      loaderError(`/lib/libc.so.6: version 'GLIBC_2.38' not found (required by ${FOLDER}/deps/lib/libtensorflow.so.2)`),
      HOST,
    );
    expect(missing).to.deep.equal([]);
  });
});

describe('why a backend could not start', () => {
  it('names a missing package, and otherwise is the first line of the error', () => {
    expect(unavailable(new Error("Cannot find package 'a' imported from b"), HOST).reason).to.equal(
      "the package 'a' is not installed",
    );
    expect(unavailable(new Error('It broke.\nAnd how.'), HOST)).to.deep.equal({ reason: 'It broke', missing: [] });
    expect(unavailable('a text', HOST).reason).to.equal('a text');
  });
});
