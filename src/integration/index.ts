export {
  assertFairness,
  type AssertFairnessOptions,
  type Comparator,
  COMPARATORS,
  judge,
  type JudgedMetric,
  type Verdict,
} from './assertions.ts';
export { type AttributeMetrics, type FileValidation, validateFile } from './validate-file.ts';
export { validationToJson, validationToMarkdown } from './validation-report.ts';
