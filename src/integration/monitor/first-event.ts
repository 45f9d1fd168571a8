import { parseObject } from '../../monitoring/records/parse-object.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';

/** Lines that are held back until one is an event; what comes before cannot tell what events have. */
const MOST_HELD = 10_000;

/** Lines of a stream, from the first on, and the first event among them as far as it was looked for. */
export interface LinesWithFirst {
  readonly lines: AsyncIterable<string>;
  readonly event: Readonly<Record<string, unknown>> | undefined;
}

/** Reads on to the first event, past blank lines, labels and what is no event, and gives all lines back. */
export async function withFirstEvent(
  lines: AsyncIterable<string>,
  { yPred }: Pick<MonitorRequest, 'yPred'>,
): Promise<LinesWithFirst> {
  const rest = lines[Symbol.asyncIterator]();
  const held: string[] = [];
  let event: LinesWithFirst['event'];
  while (event === undefined && held.length < MOST_HELD) {
    const next = await rest.next();
    if (next.done === true) break;
    held.push(next.value);
    const found = parseObject(next.value);
    if (found !== undefined && Object.hasOwn(found, yPred)) event = found;
  }
  return { lines: chain(held, rest), event };
}

async function* chain(held: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield* held;
  yield* { [Symbol.asyncIterator]: () => rest };
}
