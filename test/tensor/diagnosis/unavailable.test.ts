import { expect } from 'chai';

import { unavailable } from '../../../src/tensor/diagnosis/unavailable.ts';
import { fakeHost } from './fake-host.ts';

/** An error as Node's loader throws it. */
function loaderError(text: string, from = ''): Error {
  const error = Object.assign(new Error(text), { code: 'ERR_DLOPEN_FAILED' });
  error.stack = `Error: ${text}\n    at Module._extensions..node${from}`;
  return error;
}

const GPU = '@tensorflow/tfjs-node-gpu';
const FOLDER = `/app/node_modules/${GPU}`;
const HOST = fakeHost({ packages: { [GPU]: FOLDER } });

describe('a native library that cannot be opened', () => {
  it('because it is cut off: is removed, since the install step keeps it, and built again', () => {
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

  it('where only the stack names the package', () => {
    const error = loaderError(
      'libtensorflow.so.2: invalid ELF header',
      '\n    at Object.<anonymous> (/app/node_modules/@tensorflow/tfjs-node/dist/index.js:60:18)',
    );
    const { missing } = unavailable(error, fakeHost());
    expect(missing[0]?.mend).to.include('\nnpm rebuild --ignore-scripts=false @tensorflow/tfjs-node\n');
  });

  it('of Dawn, which comes inside its package: is installed again, once its folder is gone', () => {
    const { missing } = unavailable(
      loaderError('/a/node_modules/webgpu/dist/linux-x64/dawn.node: file too short'),
      HOST,
    );
    expect(missing[0]?.mend).to.match(/^Remove the folder .*:\nnpm install webgpu@0\.6\.2 /);
  });

  it('for want of another library is not mended by the same file again', () => {
    const { missing } = unavailable(
      loaderError(`/lib/libc.so.6: version 'GLIBC_2.38' not found (required by ${FOLDER}/deps/lib/libtensorflow.so.2)`),
      HOST,
    );
    expect(missing).to.deep.equal([]);
  });
});

describe('why a backend could not start', () => {
  it('names an absent package, and is else the first line that was thrown', () => {
    expect(unavailable(new Error("Cannot find package 'a' imported from b"), HOST).reason).to.equal(
      "the package 'a' is not installed",
    );
    expect(unavailable(new Error('It broke.\nAnd how.'), HOST)).to.deep.equal({ reason: 'It broke', missing: [] });
    expect(unavailable('a text', HOST).reason).to.equal('a text');
  });
});
