export { bceFromLogits } from './ops/bce-from-logits.ts';
export { cellCounts, type CellRows, cellTables, type CellValues } from './ops/cell-counts.ts';
export { blockDense, blockOutputs, dense } from './ops/dense.ts';
export { groupColumnSums, groupSums } from './ops/group-sums.ts';
export { histogram, type HistogramBins, histogramCells } from './ops/histogram.ts';
export { largestValues, type Slice, unitOf } from './ops/reduce-chunks.ts';
export { largestGap, type SoftRates, softRates } from './ops/soft-rates.ts';
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
