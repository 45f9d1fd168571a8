import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { ServiceLimits } from '../app/service-limits.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import type { ReceivedForm } from './intake.ts';
import { mediaTypeOf, requireMediaType } from './media-type.ts';
import { FILE_PART, type FormParts } from './part-reader.ts';
import { readBody, refusing } from './read-body.ts';
import { readForm } from './read-form.ts';
import { newSpoolFolder } from './spool-folder.ts';

/** Options of {@link receiveForm}. */
export interface ReceiveFormOptions {
  /** `uploadBytes` of the file, `fieldBytes` of each field, and `idleMillis` count. */
  readonly limits: ServiceLimits;
  /** Where the form's folder is made. */
  readonly spoolRoot: string;
  /** The fields that the form may have beside its file. */
  readonly allowed: { readonly fields: readonly string[] };
}

/** The longest that busboy's search takes is 256, with four bytes of its own; RFC 2046 allows 70. */
const BOUNDARY_LENGTH = 70;
/** For boundaries and headers of parts. */
const FRAME_BYTES = 2 ** 20;

/**
 * Receives a form (multipart/form-data): one file part named `file`, told to be CSV, CSV packed with gzip or Parquet by
 * its first bytes whatever it is called, and the fields that are allowed, as text or as a file. The table is unpacked and
 * streams to a folder of its own. After a failure nothing is left on disk.
 * @throws {ServiceProblem} what `receiveBody` throws; 400 for a form that is malformed, 413 for a part that is too large,
 *   415 for another type, 422 for a part that is unknown, repeated, missing or empty
 */
export async function receiveForm(request: IncomingMessage, options: ReceiveFormOptions): Promise<ReceivedForm> {
  const { limits, spoolRoot, allowed } = options;
  const { uploadBytes, fieldBytes, idleMillis } = limits;
  return refusing(request, async () => {
    const contentType = requireForm(request.headers['content-type']);
    const mostBytes = uploadBytes + allowed.fields.length * fieldBytes + FRAME_BYTES;
    const folder = await newSpoolFolder(spoolRoot);
    try {
      const form = { contentType, folder: folder.path, fields: allowed.fields, uploadBytes, fieldBytes };
      const { file, fields } = await readBody(request, { mostBytes, idleMillis }, (chunks) => readForm(chunks, form));
      const digest = digestOf({ file, fields });
      const { path, format } = file;
      return Object.freeze({
        fields: Object.freeze(Object.fromEntries(fields)),
        file: { path, format },
        folder,
        digest,
      });
    } catch (error) {
      await folder.remove();
      throw error;
    }
  });
}

/** Of what was meant, so that neither the boundary nor the order of the parts matters. */
function digestOf({ file, fields }: FormParts): string {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).update(file.hash).digest('hex');
}

/** The header, where it is one that the form can be read by. */
function requireForm(header: string | undefined): string {
  requireMediaType(header, ['multipart/form-data']);
  const boundary = mediaTypeOf(header)?.parameters.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= BOUNDARY_LENGTH) {
    // Written anew, so that the parser reads it as it was read here.
    return `multipart/form-data; boundary="${boundary.replaceAll(/["\\]/g, '\\$&')}"`;
  }
  throw new ServiceProblem(400, {
    detail: `The Content-Type of the form has ${boundary === '' ? 'no boundary' : 'too long a boundary'}.`,
    suggestion: `Let the HTTP client write the header: curl -F '${FILE_PART}=@data.csv' …`,
  });
}
