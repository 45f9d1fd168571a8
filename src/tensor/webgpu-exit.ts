/** The parts of WebGPU's buffers that are needed to end cleanly. */
interface Buffer {
  unmap(): void;
}

interface BufferClass {
  readonly prototype: { mapAsync: (...options: unknown[]) => Promise<unknown> };
}

interface Device {
  destroy(): void;
}

/** Buffers that the host waits for. */
const awaited = new Set<Buffer>();

/** Classes whose reads are noted already. */
const watched = new WeakSet();

/** Devices that may be at work. */
const devices = new Set<Device>();

/**
 * Notes what is read from devices, so that a thread that ends meanwhile lets go
 * of it: Dawn aborts the whole process over a promise that is left open.
 */
export function watchReads({ prototype }: BufferClass): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  const mapAsync = prototype.mapAsync;
  prototype.mapAsync = function (this: Buffer, ...options: unknown[]) {
    const mapped = mapAsync.apply(this, options);
    const forget = (): void => {
      awaited.delete(this);
    };
    awaited.add(this);
    mapped.then(forget, forget);
    return mapped;
  };
  process.on('exit', letGo);
}

/** Has a device stop before the process ends: a driver that still computes while it is unloaded crashes. */
export function stopAtExit(device: Device): void {
  devices.add(device);
}

function letGo(): void {
  for (const buffer of awaited) buffer.unmap();
  for (const device of devices) device.destroy();
}
