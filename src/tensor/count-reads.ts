import { isOnDevice } from './backend-traits.ts';
import type { Tf } from './runtime.ts';

/** The number of reads from the tensor backend. */
export interface DeviceReads {
  /** The number of reads. Each read makes the host wait for the device. */
  readonly reads: number;
  /** The number of values read. */
  readonly values: number;
}

/** The object through which tensors are read: a backend of TensorFlow.js, or its engine. */
interface Reader {
  read: (dataId: object) => Promise<ArrayLike<unknown>>;
  readSync: (dataId: object) => ArrayLike<unknown>;
}

/**
 * Runs a function and counts how often it reads from the active backend, through `data`, `dataSync` or any other
 * method. Reads by concurrent work on the same backend are also counted.
 *
 * On a device, every read is counted, including reads inside an operation. If the backend computes on the host, reads
 * inside operations cost nothing, so only reads by the caller are counted.
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
  const own = Object.entries(reader).filter(([key]) => key === 'read' || key === 'readSync');
  reader.read = async (dataId) => {
    // The backend's `read` may call `readSync`, which is not a second read.
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
    // Deleting the overridden properties restores the methods of the class.
    delete (reader as Partial<Reader>).read;
    delete (reader as Partial<Reader>).readSync;
    // If a backend's device was lost, the backend has its own `readSync`, which throws an error with the reason.
    Object.assign(reader, Object.fromEntries(own));
  }
}
