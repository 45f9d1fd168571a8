export { type CategoricalColumn, type Column, columnLength, type NumericColumn, takeRows } from './column.ts';
export {
  assertNotDisposed,
  type ColumnSource,
  isTensorLike,
  readTensor,
  type TensorLike,
  toColumn,
  unwrap,
} from './column-source.ts';
export { type DanfoDataFrame, type DanfoGroup, groupWithDanfo } from './danfo.ts';
export {
  encodeGroups,
  INTERSECTION_SEPARATOR,
  joinLabels,
  MISSING_LABEL,
  missingLabel,
  type NanPolicy,
  type SensitiveSource,
} from './encode-groups.ts';
export { sortLabels } from './encode-labels.ts';
export { onHost } from './on-host.ts';
export { type BinaryValues, notBinary, toBinary } from './to-binary.ts';
export { Table, type TableSource, unknownColumn } from './table.ts';
