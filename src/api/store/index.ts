export { FileResultStore, type FileResultStoreOptions } from './file-result-store.ts';
export { ResultStore, type ResultStoreLike, type ResultStoreOptions } from './result-store.ts';
