/** A body that fits in memory, or one that was written to a file. */
export type ReceivedBody =
  | { readonly kind: 'memory'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string; readonly folder: SpoolFolder };

/** A folder of one request's uploads. */
export interface SpoolFolder {
  readonly path: string;
  /** Removes it with all that is in it; a second call does nothing. Not called by who hands the folder on to the runs. */
  remove(): Promise<void>;
}

/** A form that was received: fields by name, and the file. */
export interface ReceivedForm {
  readonly fields: Readonly<Record<string, string>>;
  /** The uploaded table: `form.folder.path` holds it, under a name of ours (`upload.csv`, `upload.parquet`). */
  readonly file: { readonly path: string; readonly format: 'csv' | 'parquet' };
  readonly folder: SpoolFolder;
  /** SHA-256 of what was received, hexadecimal: the file's bytes and the fields. */
  readonly digest: string;
}
