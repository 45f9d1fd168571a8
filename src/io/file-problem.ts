const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'the file is busy',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  EFBIG: 'the file may not grow any more',
  EIO: 'the disk failed to read or write',
  EISDIR: 'it is a folder',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENOENT: 'the folder does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** The reason why the system cannot open or write a file. */
export interface FileProblem {
  /** The system's error code, such as `ENOSPC`; empty if the error has no code. */
  readonly code: string;
  /** An explanation of the code for messages, such as 'the disk is full'; undefined for rare codes. */
  readonly reason: string | undefined;
}

/** Returns the code and the reason of an error that `node:fs` threw when a file was opened or written. */
export function fileProblemOf(cause: unknown): FileProblem {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return { code, reason: reasonOfCode(code) };
}

/** Returns the meaning of a system's error code; undefined for rare codes. */
export function reasonOfCode(code: string): string | undefined {
  return REASONS[code];
}
