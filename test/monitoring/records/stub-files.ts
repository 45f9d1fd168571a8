import { type FileFunctions, SYSTEM_FILES } from '../../../src/monitoring/records/file/file-functions.ts';

/** Returns an error like those of the operating system. */
function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as the system says it`), { code });
}

/** A disk whose writes a test can make fail or stop short. It counts the calls. */
export class StubDisk {
  /** The number of bytes that still fit. Beyond them, writes are short and then fail. */
  room = Infinity;
  /** The maximum number of bytes per write. */
  maxAtOnce = Infinity;
  failing: Partial<Record<keyof FileFunctions, string>> = {};
  readonly calls: Record<string, number> = {};

  readonly files: FileFunctions = {
    ...(Object.fromEntries(
      Object.entries(SYSTEM_FILES).map(([name, call]) => [
        name,
        (...values: never[]) => {
          this.calls[name] = (this.calls[name] ?? 0) + 1;
          const code = this.failing[name as keyof FileFunctions];
          if (code !== undefined) throw systemError(code);
          return (call as (...all: never[]) => unknown)(...values);
        },
      ]),
    ) as unknown as FileFunctions),
    write: (descriptor, bytes, offset, length) => {
      this.calls['write'] = (this.calls['write'] ?? 0) + 1;
      if (this.failing.write !== undefined) throw systemError(this.failing.write);
      if (this.room <= 0) throw systemError('ENOSPC');
      const written = SYSTEM_FILES.write(descriptor, bytes, offset, Math.min(length, this.room, this.maxAtOnce));
      this.room -= written;
      return written;
    },
  };
}
