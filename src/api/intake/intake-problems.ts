import { toPointer } from '../../schemas/problems-of.ts';
import { fieldProblem, noRoomProblem, ServiceProblem } from '../problem/service-problem.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a number of bytes: 33554432 is "32 MiB". */
function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${Number.isInteger(amount) ? String(amount) : amount.toFixed(1)} ${UNITS[power] ?? ''}`;
}

/**
 * Returns a 413 problem for data that is larger than the limit. `part` is the name of the form part that contains the
 * data, or '' for the complete body.
 */
export function tooLarge(maxBytes: number, part = ''): ServiceProblem {
  const detail = `${subjectOf(part)} is larger than the limit of ${sizeText(maxBytes)}.`;
  const suggestion = 'Send fewer rows or columns, or ask the operator of the service for a higher limit.';
  return fieldProblem(413, pointerTo(part), detail, suggestion);
}

/** Returns a 413 problem for compressed data with a suspiciously high compression ratio. */
export function compressionBomb(ratio: number): ServiceProblem {
  return new ServiceProblem(413, {
    detail: `The upload looks like a compression bomb: it decompresses to more than ${String(ratio)} times its size.`,
    suggestion: 'Send it uncompressed, or as Parquet.',
  });
}

/** Returns a 400 problem for gzip data that cannot be decompressed. */
export function brokenGzip(cause: unknown): ServiceProblem {
  const isCut = cause instanceof Error && /unexpected end/i.test(cause.message);
  return new ServiceProblem(
    400,
    {
      detail: isCut ? 'The gzip data ends too early.' : 'The gzip data is broken.',
      suggestion: 'Compress it again with gzip, or send it uncompressed.',
    },
    cause,
  );
}

/** Returns a 408 problem for a client that sends too slowly. */
export function tooSlow(idleMillis: number, minBytes: number): ServiceProblem {
  return new ServiceProblem(408, {
    detail: `Less than ${sizeText(minBytes)} of the body arrived within ${String(idleMillis / 1000)} seconds.`,
    suggestion: 'Send the request again on a faster connection.',
  });
}

/**
 * Returns a 400 problem for a client that disconnected. The problem is only logged, because there is no client to
 * receive it.
 */
export function clientGone(cause?: unknown): ServiceProblem {
  return new ServiceProblem(
    400,
    { detail: 'The client disconnected before the body was complete.', suggestion: 'Send the request again.' },
    cause,
  );
}

/** Returns a 503 problem if the disk is full, and any other error unchanged. */
export function noRoomOr(cause: unknown): unknown {
  return noRoomProblem(cause, 'uploads') ?? cause;
}

/** Returns a 422 problem for a form part. The name '' means the complete body. */
export function badPart(part: string, problem: string, suggestion: string): ServiceProblem {
  return fieldProblem(422, pointerTo(part), `${subjectOf(part)} ${problem}.`, suggestion);
}

function subjectOf(part: string): string {
  return part === '' ? 'The body' : `The part '${part}' of the form`;
}

/** Returns the JSON pointer to a part; '' for the complete body. */
function pointerTo(part: string): string {
  return toPointer(part === '' ? [] : [part]);
}
