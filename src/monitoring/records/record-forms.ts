import { parseObject } from '../../internal/values.ts';
import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import type { LineForm } from './file/file-functions.ts';
import type { MonitoringRecord } from './monitoring-record.ts';
import { findLayout, parseCsvRow } from './reading/record-layout.ts';
import { CSV_HEADER, RECORD_FIELDS, toCsvLine, toJsonLine } from './record-lines.ts';

/** The format of a record file: how records are written as lines. */
export interface RecordForm extends LineForm {
  readonly name: 'csv' | 'ndjson';
  toLine(record: MonitoringRecord): string;
}

const CSV: RecordForm = {
  name: 'csv',
  header: CSV_HEADER,
  opening: CSV_HEADER,
  isQuoting: true,
  examine: examineCsv,
  // The last number of a truncated line may lack digits.
  isComplete: () => false,
  toLine: toCsvLine,
};

const NDJSON: RecordForm = {
  name: 'ndjson',
  header: null,
  opening: '{"time":',
  isQuoting: false,
  examine: examineJson,
  isComplete: (line) => parseObject(line) !== undefined,
  toLine: toJsonLine,
};

/**
 * Returns the format for a path's extension: .csv, .ndjson or .jsonl, optionally followed by the number of a rotated
 * file.
 * @throws {ValueError} if the extension is not supported
 */
export function recordFormOf(path: string): RecordForm {
  if (/\.csv(?:\.\d+)?$/i.test(path)) return CSV;
  if (/\.(?:ndjson|jsonl)(?:\.\d+)?$/i.test(path)) return NDJSON;
  throw new ValueError(`The path parameter must end in .csv, .ndjson or .jsonl. Got '${path}' instead.`, {
    context: { parameter: 'path', value: path },
    suggestion: 'Give the file one of these extensions.',
  });
}

function examineCsv(firstLine: string, path: string): 'same' | 'older' {
  const fields = parseCsvRow(firstLine.replace(/^\uFEFF/, '').replace(/\r$/, ''));
  const names = fields?.map(({ text }) => text) ?? [firstLine];
  const { kind } = findLayout(names);
  if (kind !== 'other') return kind === 'own' ? 'same' : 'older';
  throw new DataValidationError(
    `'${path}' has the columns ${names.join(', ')}, which are not the columns of monitoring records. Nothing was added to the file.`,
    {
      code: 'unwritable-file',
      context: { path, columns: names, expected: RECORD_FIELDS },
      suggestion: 'Use a new file.',
    },
  );
}

function examineJson(firstLine: string, path: string): 'same' {
  const first = parseObject(firstLine);
  if (first !== undefined && ('time' in first || 'timestamp' in first) && 'metric' in first) return 'same';
  throw new DataValidationError(`'${path}' does not contain monitoring records. Nothing was added to the file.`, {
    code: 'unwritable-file',
    context: { path },
    suggestion: 'Use a new file.',
  });
}
