import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { TrackingFault } from './tracking-fault.ts';

/** Far more than MLflow says of a run; beyond it the other side is something else. */
const MOST_BYTES = 2 ** 20;

/**
 * A response's text, decoded as UTF-8, as long as it has at most 1 MiB after
 * decompression; the rest is not taken from the network.
 * @throws {TrackingFault} for a longer one, which is no passing fault
 * @throws {DataValidationError} for one that is not UTF-8
 */
export async function limitedText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new Utf8Stream('The answer');
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.end();
    size += value.byteLength;
    if (size > MOST_BYTES) {
      // Not waited for: a server that goes on sending must not delay the fault.
      void reader.cancel().catch(() => undefined);
      throw new TrackingFault('the answer is longer than 1 MiB');
    }
    text += decoder.write(value);
  }
}
