export { type BackendChoice, parseBackendChoice, TENSOR_BACKENDS, type TensorBackend } from './backend-names.ts';
export {
  type BackendTraits,
  type BatchSize,
  chooseBatchSize,
  isOnDevice,
  largestExactInteger,
  largestTensor,
  maxActivations as mostActivations,
  multipliesFast,
  traitsOf,
} from './backend-traits.ts';
export { countReads, type DeviceReads } from './count-reads.ts';
export { type BackendReport, isGpuRoute, routesToGpu } from './diagnosis/backend-report.ts';
export type { MissingPart } from './diagnosis/host.ts';
export { onDeviceAlone, releaseUnused } from './release-unused.ts';
export { type Adam, type AdamOptions, createAdam } from './ops/adam.ts';
export {
  areTensors,
  type Batches,
  type BatchRows,
  countRows,
  createBatches,
  createRowChunks,
  disposeRows,
  type NetworkBatch,
  type NetworkData,
  type NetworkRows,
  type NetworkTensors,
  partShares,
  readTogether,
  type RowChunks,
  takeBatchRows,
  takeRows,
  uploadRows,
} from './ops/batches.ts';
export { bceFromLogits, bceGradient as bceSlope } from './ops/bce-from-logits.ts';
export { cellCounts, type CellRows, cellTables, type CellValues } from './ops/cell-counts.ts';
export { type FusedMap, fusedMap } from './ops/fused-map.ts';
export { groupColumnSums, groupColumnTable, groupSums } from './ops/group-sums.ts';
export { histogram, type HistogramBins, histogramCells } from './ops/histogram.ts';
export {
  type BlockTerms,
  createRowBlocks,
  type NormalEquations,
  normalEquations,
  type RowBlock,
  type RowBlocks,
  uploadRowBlocks,
} from './ops/normal-equations.ts';
export { joinParameters, type MatrixShape, splitParameters } from './ops/parameters.ts';
export { largestValues, segmentSums, type Slice, unitOf } from './ops/reduce-chunks.ts';
export { atRows, rowsOfParts, sortedRows } from './ops/row-order.ts';
export {
  extremes,
  largestGap,
  type SoftRates,
  softRates,
  squaredGapGradient as squaredGapSlope,
} from './ops/soft-rates.ts';
export {
  type Activation,
  columnSums,
  rectifierGradient,
  rowSums,
  sharedDense,
  sharedDenseGradients,
  stackedDense,
  stackedDenseGradients,
  timesTransposed,
} from './ops/stacked-dense.ts';
export {
  backendInUse,
  currentTensorflow,
  deviceOf,
  hasNvidiaDevice,
  loadTensorflow,
  probeBackends,
  type Tensorflow,
  tensorflowInUse,
  type Tf,
} from './runtime.ts';
export { ceilFloat32, floorFloat32 } from './round-float32.ts';
export { webGpuAdapter } from './webgpu.ts';
