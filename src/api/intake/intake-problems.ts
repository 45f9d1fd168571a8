import { noRoomProblem, ServiceProblem } from '../problem/service-problem.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** 33554432 is "32 MiB". */
function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${Number.isInteger(amount) ? String(amount) : amount.toFixed(1)} ${UNITS[power] ?? ''}`;
}

/** 413: more than is taken. `part` is the name of a form's part; without it, it is the body. */
export function tooLarge(mostBytes: number, part = ''): ServiceProblem {
  const detail = `${subjectOf(part)} has more than ${sizeText(mostBytes)}, the most that is taken here.`;
  return new ServiceProblem(413, {
    detail,
    errors: [{ pointer: pointerTo(part), detail }],
    suggestion: 'Send fewer rows or columns, or ask who runs the service for a higher limit.',
  });
}

/** 413: what is packed unpacks to so much more that it looks like an attack. */
export function compressionBomb(ratio: number): ServiceProblem {
  return new ServiceProblem(413, {
    detail: `What was sent looks like a compression bomb: it unpacks to more than ${String(ratio)} times its size.`,
    suggestion: 'Send it unpacked, or as Parquet.',
  });
}

/** 400: packed data that cannot be unpacked. */
export function brokenGzip(cause: unknown): ServiceProblem {
  const isCut = cause instanceof Error && /unexpected end/i.test(cause.message);
  return new ServiceProblem(
    400,
    {
      detail: isCut ? 'The gzip data ends too early.' : 'The gzip data is broken.',
      suggestion: 'Pack it again with gzip, or send it unpacked.',
    },
    cause,
  );
}

/** 408: the client sends too slowly. */
export function tooSlow(idleMillis: number, leastBytes: number): ServiceProblem {
  return new ServiceProblem(408, {
    detail: `Less than ${sizeText(leastBytes)} of the body came in ${String(idleMillis / 1000)} seconds.`,
    suggestion: 'Send the request again on a faster connection.',
  });
}

/** 400: the client went away. Nobody reads it but the log. */
export function clientGone(cause?: unknown): ServiceProblem {
  return new ServiceProblem(
    400,
    { detail: 'The client went away before the body was complete.', suggestion: 'Send the request again.' },
    cause,
  );
}

/** No room on the disk as 503; anything else as it came. */
export function noRoomOr(cause: unknown): unknown {
  return noRoomProblem(cause, 'uploads') ?? cause;
}

/** 422: a part of a form, or the body where the name is '', cannot be used. */
export function badPart(part: string, fault: string, suggestion: string): ServiceProblem {
  const detail = `${subjectOf(part)} ${fault}.`;
  return new ServiceProblem(422, {
    detail,
    errors: [{ pointer: pointerTo(part), detail }],
    suggestion,
  });
}

function subjectOf(part: string): string {
  return part === '' ? 'The body' : `The part '${part}' of the form`;
}

/** RFC 6901; the pointer of the whole is ''. */
function pointerTo(part: string): string {
  return part === '' ? '' : `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
