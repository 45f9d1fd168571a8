import { setImmediate } from 'node:timers/promises';

import { DependencyError, FairnessToolkitError } from '../exceptions/index.ts';

/** What a driver says of work that it refused. */
interface DriverError {
  readonly message: string;
}

/** The parts of WebGPU's devices through which errors come. */
interface Device {
  readonly lost: Promise<{ readonly reason: string | undefined; readonly message: string }>;
  createBuffer: (descriptor: object) => object;
  addEventListener(name: 'uncapturederror', listener: (event: Event & { readonly error: DriverError }) => void): void;
}

/** The parts of the WebGPU backend of TensorFlow.js through which buffers are made and read. */
export interface WatchedBackend {
  readonly device: Device;
  getBufferData: (buffer: object) => Promise<unknown>;
  readSync: (dataId: object) => unknown;
}

/** Who watches. */
interface WatchOptions {
  /** What the device is, in words. */
  readonly adapter: string;
  /** Called when the device is lost, whoever destroyed it. */
  readonly onLost: () => void;
}

/** Kinds of errors by the names of their classes. */
const KINDS: Readonly<Record<string, string>> = {
  GPUOutOfMemoryError: 'out of memory',
  GPUValidationError: 'a command was refused',
  GPUInternalError: 'an internal error of the driver',
};

const SMALLER_WORK =
  'take smaller batches (batchSize), fewer networks or hidden units at once, or another backend (--backend wasm)';

const watched = new WeakSet();

/**
 * Has what goes wrong on the device of a backend come out as errors. By itself TensorFlow.js goes on: commands with a
 * buffer that could not be had are dropped, and what is read then are zeros, or whatever was in the memory before.
 *
 * A buffer that cannot be had fails the operation that asked for it, so that none without memory is kept for later
 * work. Any other error fails the next reading from the device, once; work after that starts clean. The driver reports
 * an error within the call that caused it, so at the end of its submission a reading knows of all that it depends on,
 * and no waiting is added. Once a device is lost, every reading and every new buffer fails.
 *
 * A backend that is watched already is left as it is. The errors are {@link DependencyError}s.
 */
export function watchErrors(backend: WatchedBackend, { adapter, onLost }: WatchOptions): void {
  if (watched.has(backend)) return;
  watched.add(backend);
  const { device } = backend;
  let untold: DependencyError | undefined;
  let loss: Loss | undefined;
  const take = (): DependencyError | undefined => {
    const error = untold;
    untold = undefined;
    return error;
  };
  const throwIfLost = (): void => {
    if (loss !== undefined) throw lostError(adapter, loss);
  };

  device.addEventListener('uncapturederror', (event) => {
    // Otherwise Dawn prints it to stdout, in between what the program prints.
    event.preventDefault();
    untold ??= driverError(adapter, event.error);
  });
  void device.lost.then(({ reason, message }) => {
    loss = { reason, message };
    refuseSyncReads(backend, () => lostError(adapter, { reason, message }));
    onLost();
  });

  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    throwIfLost();
    const before = take();
    const buffer = createBuffer(descriptor);
    const refusal = take();
    untold = before;
    if (refusal !== undefined) throw refusal;
    return buffer;
  };

  const getBufferData = backend.getBufferData.bind(backend);
  // Below `read`, which would keep zeros on the host for the next reading, and which countReads replaces meanwhile.
  backend.getBufferData = async (buffer) => {
    throwIfLost();
    const reading = getBufferData(buffer);
    const refusal = take();
    if (refusal !== undefined) {
      reading.catch(() => undefined);
      throw refusal;
    }
    try {
      return await reading;
    } catch (cause) {
      if (FairnessToolkitError.isInstance(cause)) throw cause;
      // That the device is lost may be told after its readings are given up.
      await setImmediate();
      throwIfLost();
      throw driverError(adapter, cause as DriverError);
    }
  };
}

/** Why a device is lost. */
interface Loss {
  readonly reason: string | undefined;
  readonly message: string;
}

/** Has a lost device's data that later work may ask for, on another backend, say what became of them. */
function refuseSyncReads(backend: WatchedBackend, errorOf: () => DependencyError): void {
  const readSync = backend.readSync.bind(backend);
  backend.readSync = (dataId) => {
    try {
      // What is on the host too can still be had.
      return readSync(dataId);
    } catch {
      throw errorOf();
    }
  };
}

function driverError(adapter: string, error: DriverError): DependencyError {
  const kind = KINDS[error.constructor.name] ?? 'a reading was given up';
  const [line = ''] = error.message.split('\n');
  const detail = line === '' ? '' : `: ${line.replace(/\.$/, '')}`;
  return new DependencyError(`The backend webgpu (${adapter}) failed: ${kind}${detail}.`, {
    context: { backend: 'webgpu', adapter, kind },
    suggestion: `If the work is too large for the device, ${SMALLER_WORK}.`,
    cause: error,
  });
}

function lostError(adapter: string, { reason, message }: Loss): DependencyError {
  const why = [reason, message.split('\n')[0]].filter(
    (part) => part !== undefined && part !== '' && part !== 'unknown',
  );
  const detail = why.length === 0 ? '' : `: ${why.join(', ').replace(/\.$/, '')}`;
  return new DependencyError(`The backend webgpu (${adapter}) failed: the device was lost${detail}.`, {
    context: { backend: 'webgpu', adapter, kind: 'lost' },
    suggestion: `What was on the device is gone: start the work again, on a fresh device. If that is lost too, ${SMALLER_WORK}.`,
  });
}
