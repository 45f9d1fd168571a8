import { expect } from 'chai';

import { ConfigValidationError } from '../../src/exceptions/index.ts';
import { loadTensorflow, parseBackendChoice } from '../../src/tensor/index.ts';

describe('the name of a backend', () => {
  it('is one of the known names, or auto if it is empty', () => {
    expect(parseBackendChoice('webgpu')).to.equal('webgpu');
    expect(parseBackendChoice('auto')).to.equal('auto');
    expect(parseBackendChoice('')).to.equal('auto');
  });

  it('throws if it is unknown', () => {
    for (const name of [' ', 'WASM', 'tpu']) expect(() => parseBackendChoice(name)).to.throw(ConfigValidationError);
  });

  it('is ignored if EVENHAND_TF_BACKEND is empty', async () => {
    const before = process.env['EVENHAND_TF_BACKEND'];
    try {
      delete process.env['EVENHAND_TF_BACKEND'];
      const { backend } = await loadTensorflow();
      process.env['EVENHAND_TF_BACKEND'] = '';
      expect((await loadTensorflow()).backend).to.equal(backend);
    } finally {
      if (before === undefined) delete process.env['EVENHAND_TF_BACKEND'];
      else process.env['EVENHAND_TF_BACKEND'] = before;
    }
  });
});
