import { DataValidationError } from '../../../exceptions/index.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'the file is busy',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  EIO: 'the disk does not answer as it should',
  EISDIR: 'it is a folder',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENOENT: 'the folder is not there',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** Faults that pass without anybody changing the path. */
const PASSING = ['EAGAIN', 'EBUSY', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOSPC'];

/** Why something could not be done with a file, in words, with the system's name for it. */
export function describeFileProblem(cause: unknown): string {
  const code = codeOf(cause);
  if (code === '') return cause instanceof Error ? cause.message : String(cause);
  return `${REASONS[code] ?? 'the system refuses'} (${code})`;
}

/** Whether a later try may well succeed. */
export function isPassing(cause: unknown): boolean {
  return PASSING.includes(codeOf(cause));
}

/** The error for a file that cannot be written from the beginning. */
export function cannotOpen(path: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  return new DataValidationError(`Cannot write '${path}': ${describeFileProblem(cause)}.`, {
    context: { path, code: codeOf(cause) },
    suggestion: 'Name a path in a folder that can be written.',
    cause,
  });
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
}
