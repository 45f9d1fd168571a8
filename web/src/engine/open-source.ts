import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { openCsv } from './csv-source.ts';
import type { DataSource } from './data-source.ts';
import { openJsonLines } from './json-lines-source.ts';
import { openParquet } from './parquet-source.ts';
import type { Problem } from './protocol.ts';

/** Opens a file by its first bytes and its name, as the command line does. */
export async function sourceOf(file: File, decimal: ',' | undefined): Promise<DataSource> {
  const magic = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isParquet = String.fromCharCode(...magic) === 'PAR1' || /\.parquet$/i.test(file.name);
  if (isParquet) return openParquet(file.name, file);
  if (/\.(ndjson|jsonl)$/i.test(file.name)) return openJsonLines(file.name, file);
  return openCsv({ name: file.name, blob: file, decimal });
}

/** Returns an error as plain data, for the page. */
export function problemOf(error: unknown): Problem {
  if (FairnessToolkitError.isInstance(error)) {
    const { message, suggestion, code } = error;
    return { message, suggestion, code };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError) {
    return {
      message: `The browser does not have enough memory for this file (${message}).`,
      suggestion: 'Close other tabs, keep only the columns that you need, or use the command line.',
      code: undefined,
    };
  }
  return {
    message: `This is a bug in evenhand: ${message}`,
    suggestion: 'Report it with the file of settings.',
    code: undefined,
  };
}
