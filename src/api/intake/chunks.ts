/**
 * The same chunks, until there are more bytes than allowed.
 * @yields each chunk
 * @throws what `problem` gives
 */
export async function* atMost(
  chunks: AsyncIterable<Buffer>,
  mostBytes: number,
  problem: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw problem();
    yield chunk;
  }
}

/** The beginning of a stream of chunks. */
export interface Beginning {
  /** Everything up to `count` bytes or a little more. */
  readonly head: Buffer;
  /** Whether there is nothing after it. */
  readonly isWhole: boolean;
  /** The stream with its beginning. Who gave the stream ends it, where this is not read. */
  readonly all: AsyncIterable<Buffer>;
}

/** Reads chunks until there are more than `count` bytes, or no more chunks. */
export async function beginningOf(chunks: AsyncIterable<Buffer>, count: number): Promise<Beginning> {
  const rest = chunks[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let bytes = 0;
  let isWhole = false;
  while (bytes <= count && !isWhole) {
    const next = await rest.next();
    if (next.done === true) isWhole = true;
    else {
      read.push(next.value);
      bytes += next.value.length;
    }
  }
  return { head: Buffer.concat(read), isWhole, all: joined(read, rest) };
}

async function* joined(read: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* read;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
