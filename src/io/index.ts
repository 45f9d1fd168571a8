export type { DataFormat } from './data-file.ts';
export { loadData, type LoadDataOptions } from './load-data.ts';
export { SAMPLE_DATA_NAMES, sampleData, type SampleDataName } from './sample-data/index.ts';
export { writeCsv } from './write-csv.ts';
