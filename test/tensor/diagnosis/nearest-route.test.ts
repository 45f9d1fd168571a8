import { expect } from 'chai';

import { type BackendReport, routesToGpu } from '../../../src/tensor/index.ts';

const report = (name: BackendReport['name'], parts: number): BackendReport => ({
  name,
  available: false,
  reason: 'something',
  missing: Array.from({ length: parts }, (_, index) => ({ what: `part ${String(index)}`, mend: 'get it' })),
});

describe('the closest GPU backend', () => {
  it('is the one with the fewest missing parts', () => {
    expect(routesToGpu([report('node-gpu', 1), report('webgpu', 2)])[0]?.name).to.equal('node-gpu');
    expect(routesToGpu([report('node-gpu', 4), report('webgpu', 3)])[0]?.name).to.equal('webgpu');
  });

  it('is WebGPU in a tie', () => {
    expect(routesToGpu([report('node-gpu', 2), report('webgpu', 2)])[0]?.name).to.equal('webgpu');
    expect(routesToGpu([report('webgpu', 2), report('node-gpu', 2)])[0]?.name).to.equal('webgpu');
  });

  it('is none if the missing parts are unknown, and never a CPU backend', () => {
    expect(routesToGpu([report('node-gpu', 0), report('webgpu', 0), report('node', 1)])).to.deep.equal([]);
    expect(routesToGpu([])).to.deep.equal([]);
  });
});
