export { type CategoricalColumn, type Column, columnLength, type NumericColumn, takeRows } from './column.ts';
export {
  assertNotDisposed,
  columnsOfTensor,
  type ColumnSource,
  isDeviceTensor,
  isTensorLike,
  nameOfPosition,
  onHost,
  readTensor,
  type TensorLike,
  toColumn,
  unwrap,
} from './column-source.ts';
export {
  assertNoSeparatorLine,
  cannotRead,
  type CsvForm,
  csvHeader,
  CsvReader,
  findEncodingProblem,
  splitFields,
} from './csv-reader.ts';
export { delimitedText, type WriteCsvOptions } from './delimited-text.ts';
export { ambiguousPoint, decimalHint, hasAmbiguousPoint, hasDecimalComma, withPoints } from './decimal-commas.ts';
export { type DanfoDataFrame, type DanfoGroup, groupWithDanfo } from './danfo.ts';
export {
  encodeAttributes,
  encodeGroups,
  INTERSECTION_SEPARATOR,
  joinLabels,
  MISSING_LABEL,
  missingLabel,
  type NanPolicy,
  type SensitiveSource,
} from './encode-groups.ts';
export { sortLabels } from './encode-labels.ts';
export {
  alikeGroupWarnings,
  type ColumnReading,
  type ColumnRole,
  countLabels,
  countTexts,
  type LabelCounts,
  mergeReadings,
  readingOfGroups,
  readingOfLabels,
  readingOfMissing,
  readingWarnings,
  suspiciousGroups,
} from './column-reading.ts';
export {
  asNumbersWithout,
  MISSING_TEXTS,
  missingGroups,
  missingOutcomes,
  numbersAmong,
  oftenMeansMissing,
} from './missing-values.ts';
export { labelValue, positiveLabelFor } from './label-values.ts';
export {
  absentLabelError,
  findAbsentLabel,
  isFavourable,
  type PositiveLabelOptions,
  type SearchedColumn,
  searchedColumn,
  withoutAccents,
} from './positive-label.ts';
export { type BinaryValues, type LabelProblem, notBinary, readLabels, ruleOfNumbers, toBinary } from './to-binary.ts';
export { parsePlainCsv, type PlainCsvColumns, splitHeader } from './plain-csv.ts';
export { readTexts, type TextColumns } from './read-texts.ts';
export { numberOfCell, TextColumn, type TextColumnOptions } from './text-column.ts';
export {
  type FirstRows,
  firstObjectsOf,
  firstRowsOf,
  firstRowsOfTable,
  namesIdentifiers,
  IDENTIFIER_BYTES,
  partlyRepeatedIn,
  type RepeatedIdentifier,
  repeatedIdentifiersIn,
} from './repeated-identifier.ts';
export { readTable, Table, type TableSource, unknownColumn } from './table.ts';
