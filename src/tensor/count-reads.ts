import type { Tf } from './runtime.ts';

/** What was read from where tensors are. */
export interface DeviceReads {
  /** Readings, each of which makes the host wait for the device. */
  readonly reads: number;
  /** Numbers read. */
  readonly values: number;
}

/** The parts of a TensorFlow.js backend that reading goes through. */
interface Readable {
  read(dataId: object): Promise<ArrayLike<unknown>>;
  readSync(dataId: object): ArrayLike<unknown>;
}

/**
 * Does work and counts what it read from the active backend, by `data`, `dataSync` or anything else. Work beside it
 * on the same backend is counted too.
 */
export async function countReads<T>(tf: Tf, work: () => Promise<T>): Promise<DeviceReads & { readonly result: T }> {
  const backend = tf.backend() as unknown as Readable;
  let [reads, values] = [0, 0];
  const count = <V extends ArrayLike<unknown>>(read: V): V => {
    reads++;
    values += read.length;
    return read;
  };
  const { read, readSync } = backend;
  backend.read = async (dataId) => count(await read.call(backend, dataId));
  backend.readSync = (dataId) => count(readSync.call(backend, dataId));
  try {
    const result = await work();
    return { result, reads, values };
  } finally {
    // The backend's own methods come from its class.
    delete (backend as Partial<Readable>).read;
    delete (backend as Partial<Readable>).readSync;
  }
}
