export { type BackendTraits, traitsOf } from './backend-traits.ts';
export { countReads, type DeviceReads } from './count-reads.ts';
export { checkNumerics, largestError } from './numerics/check-numerics.ts';
export { NUMERICS_CASES } from './numerics/numerics-cases.ts';
export type { Compared, NumericsCase, NumericsFinding } from './numerics/numerics-case.ts';
export { bceFromLogits } from './ops/bce-from-logits.ts';
export { cellCounts, type CellRows, cellTables, type CellValues } from './ops/cell-counts.ts';
export { groupColumnSums, groupSums } from './ops/group-sums.ts';
export { histogram, type HistogramBins, histogramCells } from './ops/histogram.ts';
export {
  type BlockTerms,
  type NormalEquations,
  normalEquations,
  type RowBlock,
  type RowBlocks,
  uploadRowBlocks,
} from './ops/normal-equations.ts';
export { largestValues, type Slice, unitOf } from './ops/reduce-chunks.ts';
export { largestGap, type SoftRates, softRates } from './ops/soft-rates.ts';
export { sharedDense, sharedDenseGradients, stackedDense, stackedDenseGradients } from './ops/stacked-dense.ts';
export {
  type BackendChoice,
  type BackendReport,
  currentTensorflow,
  hasNvidiaDevice,
  loadTensorflow,
  probeBackends,
  TENSOR_BACKENDS,
  type TensorBackend,
  type Tensorflow,
  type Tf,
} from './runtime.ts';
export { webGpuAdapter } from './webgpu.ts';
