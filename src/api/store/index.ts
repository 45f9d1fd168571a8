export { FileResultStore, type FileResultStoreOptions } from './file-result-store.ts';
export type { ResultStoreLike } from './result-store-like.ts';
export { ResultStore, type ResultStoreOptions } from './result-store.ts';
