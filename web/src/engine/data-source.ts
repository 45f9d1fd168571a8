import type { Column } from '../../../src/table/index.ts';

/** How far the work on a file is: `done` of `total` bytes, rows or steps. */
export type OnProgress = (stage: string, done: number, total: number) => void;

/** A column to read, and whether it names groups. */
export interface WantedColumn {
  readonly name: string;
  readonly isLabel: boolean;
}

/** The start of a file: its columns and first rows. */
export interface DataStart {
  readonly names: readonly string[];
  /** The columns of the first rows. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly rowCount: number;
  /** Whether the first rows are all rows. */
  readonly isComplete: boolean;
}

/** A file with rows, of which the columns are read when they are needed. */
export interface DataSource {
  readonly format: string;
  /** Reads the start of the file. */
  start(): Promise<DataStart>;
  /** Reads the first bytes of a text table, decompressed. Other formats have no such method. */
  startBytes?(most: number): Promise<Uint8Array>;
  /**
   * Reads columns with all their rows.
   * @throws {DataValidationError} if a row is not valid
   */
  read(wanted: readonly WantedColumn[], onProgress: OnProgress): Promise<ReadonlyMap<string, Column>>;
}
