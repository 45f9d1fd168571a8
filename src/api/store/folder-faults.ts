import { DataValidationError } from '../../exceptions/index.ts';

/** What the system's codes mean for who names a folder. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the system makes no folders there, or a link leads nowhere',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** The error of a folder or file that cannot be used; one that says so already stays as it is. */
export function cannotUse(place: string, what: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new DataValidationError(`'${place}' cannot ${what}: ${REASONS[code] ?? `the system says ${code}`}.`, {
    context: { path: place, code },
    suggestion: 'Name a folder that can be written, on a disk with room.',
    cause,
  });
}
