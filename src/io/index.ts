export type { DataPaths, DecimalSeparator, FileSource } from '../schemas/data-source.ts';
export type { DataFormat } from './data-format.ts';
export { type DuckDbEngine, openDuckDb, type OpenDuckDbOptions } from './duckdb.ts';
export { loadData, type LoadDataOptions } from './load-data.ts';
export { SAMPLE_DATA_NAMES, sampleData, type SampleDataName } from './sample-data/index.ts';
export type { RowsOptions, SqlEngine, SqlSession } from './sql-engine.ts';
export type { QuerySource, SqlSource } from './sql-source.ts';
export { type TableFormat, tableFormat, writeCsv, writeTable } from './write-table.ts';
export { writeParquet } from './write-parquet.ts';
