import { Utf8Stream } from '../../../internal/decode-utf8.ts';

/**
 * The text of a response, its first bytes alone where there are more than allowed:
 * a server must not be able to fill the memory.
 * @throws {DataValidationError} for an answer that is not UTF-8
 */
export async function readText(
  response: Response,
  mostBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (response.body === null) return { text: '', isWhole: true };
  const decoder = new Utf8Stream('The answer');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.end(), isWhole: true };
    bytes += value.byteLength;
    text += decoder.write(value);
    if (bytes <= mostBytes) continue;
    await reader.cancel();
    return { text: text.slice(0, mostBytes), isWhole: false };
  }
}
