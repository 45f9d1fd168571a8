import { DependencyError, FairnessToolkitError } from '../exceptions/index.ts';
import { nextTurn } from '../internal/next-turn.ts';

/** A driver's error about a rejected command. */
interface DriverError {
  readonly message: string;
}

/** The parts of a WebGPU device that report errors. */
interface Device {
  readonly lost: Promise<{ readonly reason: string | undefined; readonly message: string }>;
  createBuffer: (descriptor: object) => object;
  addEventListener(name: 'uncapturederror', listener: (event: Event & { readonly error: DriverError }) => void): void;
}

/** The parts of TensorFlow.js's WebGPU backend that create and read buffers. */
export interface WatchedBackend {
  readonly device: Device;
  getBufferData: (buffer: object) => Promise<unknown>;
  readSync: (dataId: object) => unknown;
}

/** Options of {@link watchErrors}. */
interface WatchOptions {
  /** A description of the device. */
  readonly adapter: string;
  /** A function that is called when the device is lost, regardless of the cause. */
  readonly onLost: () => void;
}

/** The kinds of errors, by the names of their classes. */
const KINDS: Readonly<Record<string, string>> = {
  GPUOutOfMemoryError: 'out of memory',
  GPUValidationError: 'a command was rejected',
  GPUInternalError: 'an internal error of the driver',
};

const SMALLER_WORK =
  'use smaller batches (batchSize), fewer networks or hidden units at once, or another backend (--backend wasm)';

const watched = new WeakSet();

/**
 * Turns failures of a backend's device into errors. Without this function, TensorFlow.js continues after a failure:
 * commands with a buffer that could not be allocated are dropped, and later reads return zeros or stale memory.
 *
 * If an allocation fails, the operation that requested it throws, so that no buffer without memory is reused. After any
 * other failure, the next read from the device throws once. Later work is unaffected. The driver reports each failure
 * during the call that causes it. When a read is submitted, all failures that affect it are therefore known, and no
 * extra waiting is needed. After a device is lost, every read and every new buffer fails.
 *
 * Watching a backend a second time has no effect. The errors are {@link DependencyError}s.
 */
export function watchErrors(backend: WatchedBackend, { adapter, onLost }: WatchOptions): void {
  if (watched.has(backend)) return;
  watched.add(backend);
  const { device } = backend;
  let unreported: DependencyError | undefined;
  let loss: Loss | undefined;
  const take = (): DependencyError | undefined => {
    const error = unreported;
    unreported = undefined;
    return error;
  };
  const throwIfLost = (): void => {
    if (loss !== undefined) throw lostError(adapter, loss);
  };

  device.addEventListener('uncapturederror', (event) => {
    // Without this call, Dawn prints the error to stdout, together with the program's output.
    event.preventDefault();
    unreported ??= driverError(adapter, event.error);
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
    unreported = before;
    if (refusal !== undefined) throw refusal;
    return buffer;
  };

  const getBufferData = backend.getBufferData.bind(backend);
  // Overrides `getBufferData` instead of `read`. `read` would cache zeros on the host for the next read, and countReads
  // replaces `read` temporarily.
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
      // The loss of the device may be reported after its reads are aborted.
      await nextTurn();
      throwIfLost();
      throw driverError(adapter, cause as DriverError);
    }
  };
}

/** The reason why a device was lost. */
interface Loss {
  readonly reason: string | undefined;
  readonly message: string;
}

/**
 * Makes synchronous reads of a lost device's data throw an error with the reason. Later work on another backend may
 * request data of the lost device.
 */
function refuseSyncReads(backend: WatchedBackend, errorOf: () => DependencyError): void {
  const readSync = backend.readSync.bind(backend);
  backend.readSync = (dataId) => {
    try {
      // Data is still available if the host has a copy of it.
      return readSync(dataId);
    } catch {
      throw errorOf();
    }
  };
}

function driverError(adapter: string, error: DriverError): DependencyError {
  const kind = KINDS[error.constructor.name] ?? 'a read was aborted';
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
    suggestion: `The data on the device is lost. Start the work again on a new device. If the new device is also lost, ${SMALLER_WORK}.`,
  });
}
