import { isTensorLike } from './column-source.ts';

/** Rows whose tensors, one by one or in an object of columns, are read from their device. */
export async function onHost<Rows extends object>(rows: Rows): Promise<Rows> {
  const read = Object.entries(rows).map(async ([name, value]) => [name, await readTensors(value)] as const);
  return Object.fromEntries(await Promise.all(read)) as Rows;
}

async function readTensors(value: unknown): Promise<unknown> {
  if (isTensorLike(value) && 'data' in value) {
    const data = await (value.data as () => Promise<ArrayLike<unknown>>)();
    return { shape: value.shape, dtype: value.dtype, dataSync: () => data };
  }
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? onHost(value) : value;
}
