import { DataValidationError, FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { Utf8Stream } from '../../../src/internal/decode-utf8.ts';
import {
  cannotRead,
  type Column,
  type CsvForm,
  csvHeader,
  CsvReader,
  findEncodingProblem,
  TextColumn,
  unknownColumn,
} from '../../../src/table/index.ts';
import type { DataSource, DataStart, OnProgress, WantedColumn } from './data-source.ts';

/** The number of bytes that are read at once. */
const CHUNK_BYTES = 4 * 2 ** 20;

/** The number of bytes of which all columns are kept. Of larger files, only the columns that are needed are kept. */
const SMALL_BYTES = 48 * 2 ** 20;

/** The number of rows at the start of a large file from which the roles of columns are guessed. */
const START_ROWS = 20_000;

/** A text file, perhaps compressed, in a browser. */
export interface TextFile {
  readonly name: string;
  readonly blob: Blob;
  readonly decimal?: '.' | ',' | undefined;
}

/** Opens a text table. */
export async function openCsv(file: TextFile): Promise<DataSource> {
  const first = new Uint8Array(await file.blob.slice(0, 64).arrayBuffer());
  const isCompressed = first[0] === 0x1f && first[1] === 0x8b;
  const problem = isCompressed ? undefined : findEncodingProblem(first);
  if (problem !== undefined) throw cannotRead(file.name, problem.reason, problem.suggestion);
  if (first[0] === 0x50 && first[1] === 0x4b) {
    throw cannotRead(
      file.name,
      'it is a workbook or an archive, not text',
      "In Excel, choose 'Save as' and 'CSV UTF-8 (comma delimited)', and drop that file.",
    );
  }
  return new CsvSource(file, isCompressed);
}

class CsvSource implements DataSource {
  readonly format = 'CSV';
  readonly #file: TextFile;
  readonly #isCompressed: boolean;
  #all: { readonly form: CsvForm; readonly columns: readonly TextColumn[] } | undefined;

  constructor(file: TextFile, isCompressed: boolean) {
    this.#file = file;
    this.#isCompressed = isCompressed;
  }

  async start(): Promise<DataStart> {
    const isSmall = this.#file.blob.size <= (this.#isCompressed ? SMALL_BYTES / 4 : SMALL_BYTES);
    const { form, columns, rowCount } = await this.#read(() => true, isSmall ? Infinity : START_ROWS);
    const found = columns as readonly TextColumn[];
    if (isSmall) this.#all = { form, columns: found };
    return {
      names: form.names,
      columns: new Map(form.names.map((name, index) => [name, (found[index] as TextColumn).finish(name)])),
      rowCount,
      isComplete: isSmall,
    };
  }

  async startBytes(most: number): Promise<Uint8Array> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    for await (const bytes of this.#chunks(undefined)) {
      parts.push(bytes);
      length += bytes.length;
      if (length >= most) break;
    }
    return new Uint8Array(await new Blob(parts).slice(0, most).arrayBuffer());
  }

  async read(wanted: readonly WantedColumn[], onProgress: OnProgress): Promise<ReadonlyMap<string, Column>> {
    const kept = this.#all;
    if (kept !== undefined) {
      const result = this.#finish(kept.form, kept.columns, wanted);
      if (result !== undefined) return result;
    }
    const names = new Set(wanted.map(({ name }) => name));
    const labels = new Set(wanted.flatMap(({ name, isLabel }) => (isLabel ? [name] : [])));
    for (const keepsTexts of [labels, names]) {
      const { form, columns } = await this.#read((name) => names.has(name), Infinity, { keepsTexts, onProgress });
      const result = this.#finish(form, columns, wanted);
      if (result !== undefined) return result;
    }
    throw cannotRead(this.#file.name, 'its columns cannot be read', 'Export the file again.');
  }

  /** Returns the columns; undefined if one must be read again with its texts. */
  #finish(
    form: CsvForm,
    columns: readonly (TextColumn | undefined)[],
    wanted: readonly WantedColumn[],
  ): ReadonlyMap<string, Column> | undefined {
    const result = new Map<string, Column>();
    for (const { name, isLabel } of wanted) {
      if (form.repeated.some((other) => other.toLowerCase() === name.toLowerCase())) {
        throw new DataValidationError(
          `'${this.#file.name}' has more than one column '${name}' (column names are case-insensitive).`,
          { code: 'duplicate-column', context: { column: name }, suggestion: 'Rename the columns.' },
        );
      }
      const column = columns[form.names.indexOf(name)];
      if (column === undefined) throw unknownColumn(name, form.names, `'${this.#file.name}'`);
      if (column.hasLostText || (isLabel && !column.hasTexts)) return undefined;
      result.set(name, column.finish(name, isLabel));
    }
    return result;
  }

  async #read(
    isWanted: (name: string) => boolean,
    maxRows: number,
    options: { readonly keepsTexts?: ReadonlySet<string>; readonly onProgress?: OnProgress } = {},
  ): Promise<{
    readonly form: CsvForm;
    readonly columns: readonly (TextColumn | undefined)[];
    readonly rowCount: number;
  }> {
    const { name: title, decimal } = this.#file;
    let form: CsvForm | undefined;
    let reader: CsvReader | undefined;
    let columns: readonly (TextColumn | undefined)[] = [];
    let start = '';
    const begin = (): CsvReader => {
      form = csvHeader(title, start, decimal);
      columns = form.names.map((name) =>
        isWanted(name) ? new TextColumn({ decimal, keepsTexts: options.keepsTexts?.has(name) }) : undefined,
      );
      return new CsvReader(form, columns, maxRows);
    };
    const decoder = new Utf8Stream(`'${title}'`);
    for await (const bytes of this.#chunks(options.onProgress)) {
      const text = decode(title, () => decoder.write(bytes));
      if (reader === undefined) {
        start += text;
        // A header with a line end in quotes continues on the next line; the reader needs its end.
        if (!/[\r\n][^]/.test(start)) continue;
        reader = begin();
        reader.write(start);
      } else reader.write(text);
      if (reader.isDone) return { form: form as CsvForm, columns, rowCount: reader.rowCount };
    }
    decode(title, () => decoder.end());
    if (reader === undefined) {
      reader = begin();
      reader.write(start);
    }
    reader.end();
    return { form: form as CsvForm, columns, rowCount: reader.rowCount };
  }

  async *#chunks(onProgress: OnProgress | undefined): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const { blob, name } = this.#file;
    if (!this.#isCompressed) {
      for (let start = 0; start < blob.size; start += CHUNK_BYTES) {
        onProgress?.('Reading the file', start, blob.size);
        yield new Uint8Array(await blob.slice(start, start + CHUNK_BYTES).arrayBuffer());
      }
      return;
    }
    const reader = blob.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((cause: unknown) => {
          throw cannotRead(name, 'its compressed content is damaged or cut off', 'Compress or export it again.', cause);
        });
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }
}

/** Replaces the error about bytes that are not UTF-8 by one that names the file, as on the command line. */
function decode(title: string, read: () => string): string {
  try {
    return read();
  } catch (cause) {
    if (!FairnessToolkitError.isInstance(cause)) throw cause;
    const { offset } = cause.context;
    throw cannotRead(
      title,
      `the text is not UTF-8 (the byte at offset ${String(offset)})`,
      'Save the file as UTF-8.',
      cause,
    );
  }
}
