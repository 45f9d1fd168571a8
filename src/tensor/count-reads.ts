import { isOnDevice } from './backend-traits.ts';
import type { Tf } from './runtime.ts';

/** What was read from where tensors are. */
export interface DeviceReads {
  /** Readings, each of which makes the host wait for the device. */
  readonly reads: number;
  /** Numbers read. */
  readonly values: number;
}

/** What tensors are read through: a backend of TensorFlow.js, or its engine. */
interface Reader {
  read: (dataId: object) => Promise<ArrayLike<unknown>>;
  readSync: (dataId: object) => ArrayLike<unknown>;
}

/**
 * Does work and counts what it read from the active backend, by `data`, `dataSync` or anything else. Work beside it
 * on the same backend is counted too.
 *
 * On a device every reading is counted, also one hidden in an operation. Where the host computes by itself, operations
 * look at numbers all the time, at no cost: there only what is read by the caller counts.
 */
export async function countReads<T>(tf: Tf, work: () => Promise<T>): Promise<DeviceReads & { readonly result: T }> {
  const reader = (isOnDevice(tf) ? tf.backend() : tf.engine()) as unknown as Reader;
  let [reads, values] = [0, 0];
  let isReading = false;
  const count = <V extends ArrayLike<unknown>>(read: V): V => {
    reads++;
    values += read.length;
    return read;
  };
  const { read, readSync } = reader;
  reader.read = async (dataId) => {
    // A backend may read by `readSync` in turn, which is no second reading.
    isReading = true;
    let reading;
    try {
      reading = read.call(reader, dataId);
    } finally {
      isReading = false;
    }
    return count(await reading);
  };
  reader.readSync = (dataId) => (isReading ? readSync.call(reader, dataId) : count(readSync.call(reader, dataId)));
  try {
    const result = await work();
    return { result, reads, values };
  } finally {
    // The reader's own methods come from its class.
    delete (reader as Partial<Reader>).read;
    delete (reader as Partial<Reader>).readSync;
  }
}
